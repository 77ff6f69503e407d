import { isGitUrl } from "./project.ts";

const PLAIN = /^(?:[a-z0-9_](?:[a-z0-9._-]*)|\[[0-9a-f:.]+\])(?::\d+)?$/;

/**
 * Returns the SSH server that a git URL leads to, in lower case and with its port unless that is 22; `undefined` for
 * other URLs and for hosts whose names are not plain ASCII.
 */
export function sshHost(gitUrl: string): string | undefined {
  if (!isGitUrl(gitUrl)) return undefined;
  const host = gitUrl.includes("://") ? hostIn(new URL(gitUrl)) : gitUrl.slice(gitUrl.indexOf("@") + 1).split(":")[0];
  const label = host?.toLowerCase();
  return label !== undefined && PLAIN.test(label) ? label : undefined;
}

function hostIn({ protocol, hostname, port }: URL): string | undefined {
  if (protocol !== "ssh:") return undefined;
  return port === "" || port === "22" ? hostname : `${hostname}:${port}`;
}
