import { OctokitAccounts } from "../../adapters/githost/octokit_accounts.ts";
import { type GitHostSettings, OctokitClients } from "../../adapters/githost/octokit_clients.ts";
import { OctokitHooks } from "../../adapters/githost/octokit_hooks.ts";
import { OctokitRepositories } from "../../adapters/githost/octokit_repositories.ts";
import { Secret } from "../../domain/secret.ts";
import { gitAccountsContract } from "../contracts/git_accounts.ts";
import { gitHooksContract } from "../contracts/git_hooks.ts";
import type { GitHostStage } from "../contracts/git_host_stage.ts";
import { gitRepositoriesContract } from "../contracts/git_repositories.ts";
import { EmulatedGitHost } from "../support/peers/emulated_git_host.ts";

function settingsFor(host: EmulatedGitHost, changes: Partial<GitHostSettings> = {}): GitHostSettings {
  return {
    apiUrl: host.apiUrl,
    webUrl: host.webUrl,
    app: { id: `${host.appId}`, privateKey: new Secret(host.appPrivateKey) },
    oauth: { clientId: host.clientId, clientSecret: new Secret(host.clientSecret) },
    ...changes,
  };
}

function stage<Adapters>(open: (clients: OctokitClients) => Adapters): () => Promise<GitHostStage<Adapters>> {
  return async () => {
    const host = await EmulatedGitHost.start();
    const adapters = open(new OctokitClients(settingsFor(host)));
    const { redirectUrl } = host;
    return { host, adapters, redirectUrl, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
  };
}

gitRepositoriesContract(
  "octokit",
  stage((clients) => new OctokitRepositories(clients)),
);
gitAccountsContract(
  "octokit",
  stage((clients) => new OctokitAccounts(clients)),
);
gitHooksContract(
  "octokit",
  stage((clients) => new OctokitHooks(clients)),
);
