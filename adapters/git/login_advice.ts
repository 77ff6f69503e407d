import { sshHost } from "../../domain/projects/ssh_host.ts";
import type { SshAccess } from "../../ports/projects/sources.ts";
import type { GitAddress } from "./git_address.ts";
import type { SshClient } from "./ssh_client.ts";

/** Explains why a git server refused a login and what to do about it, completing "Cannot …: ". */
export function loginAdvice(address: GitAddress, access: SshAccess | undefined, client: SshClient | undefined): string {
  if (address.protocol !== "ssh") {
    return "the host requires a login; the repository is private or does not exist, or the credential is wrong";
  }
  if (client && client.host === sshHost(address.url)) {
    const advice = `Add this public key there, with read access: ${client.publicKey}`;
    return `${client.host} does not accept the deploy key of this project. ${advice}`;
  }
  if (client) {
    return `${address.host} requires a login, and the deploy key of this project is only used for ${client.host}. Move the repository there, or make it public`;
  }
  const path = access?.deployKeyPath ?? "/api/projects/:id/deploy-key";
  const project = access ? "" : "Create a project with this gitUrl, then make";
  return `the git server requires a login. ${project || "Make"} a deploy key with POST ${path} and add its public part at the git server`;
}
