import type { GitHostSettings } from "../../../adapters/githost/octokit_clients.ts";
import { Secret } from "../../../domain/secret.ts";
import type { EmulatedGitHost } from "./emulated_git_host.ts";

/** The settings with which Slipway reaches an emulated git host. */
export function hostSettings(host: EmulatedGitHost, changes: Partial<GitHostSettings> = {}): GitHostSettings {
  return {
    apiUrl: host.apiUrl,
    webUrl: host.webUrl,
    app: { id: `${host.appId}`, privateKey: new Secret(host.appPrivateKey) },
    oauth: { clientId: host.clientId, clientSecret: new Secret(host.clientSecret) },
    ...changes,
  };
}
