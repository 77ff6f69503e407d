import { sshHost } from "../../domain/projects/ssh_host.ts";
import type { FetchTarget } from "../../ports/projects/sources.ts";
import type { GitAddress } from "./git_address.ts";
import type { SshClient } from "./ssh_client.ts";

/** Explains why a git server refused a login and what to do about it, completing "Cannot …: ". */
export function loginAdvice(
  address: GitAddress,
  { ssh: access, loginAdvice: given }: Pick<FetchTarget, "ssh" | "loginAdvice">,
  client: SshClient | undefined,
): string {
  if (address.protocol !== "ssh") {
    if (given !== undefined) return `the host requires a login; the repository is private or does not exist. ${given}`;
    return "the host requires a login; the repository is private or does not exist, or the credential is wrong";
  }
  const host = sshHost(address.url) ?? address.host;
  if (client && client.host === host) {
    const advice = `Add this public key there, with read access: ${client.publicKey}`;
    return `${client.host} does not accept the deploy key of this project. ${advice}`;
  }
  if (client) {
    const advice = "Move the repository there, or give its https:// URL if it is public";
    return `${host} requires a login, and the deploy key of this project is only used for ${client.host}. ${advice}`;
  }
  const path = access?.deployKeyPath ?? "/api/projects/:id/deploy-key";
  const make = access ? "Make" : "Create a project with this gitUrl, then make";
  return `the git server requires a login. ${make} a deploy key with POST ${path} and add its public part at the git server`;
}
