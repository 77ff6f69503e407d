import { OctokitAccounts } from "../../adapters/githost/octokit_accounts.ts";
import { OctokitClients } from "../../adapters/githost/octokit_clients.ts";
import { OctokitCommitStatuses } from "../../adapters/githost/octokit_commit_statuses.ts";
import { OctokitHooks } from "../../adapters/githost/octokit_hooks.ts";
import { OctokitPullRequestComments } from "../../adapters/githost/octokit_pull_request_comments.ts";
import { OctokitRepositories } from "../../adapters/githost/octokit_repositories.ts";
import { commitStatusesContract } from "../contracts/commit_statuses.ts";
import { gitAccountsContract } from "../contracts/git_accounts.ts";
import { gitHooksContract } from "../contracts/git_hooks.ts";
import type { GitHostStage } from "../contracts/git_host_stage.ts";
import { gitRepositoriesContract } from "../contracts/git_repositories.ts";
import { pullRequestCommentsContract } from "../contracts/pull_request_comments.ts";
import { EmulatedGitHost } from "../support/peers/emulated_git_host.ts";
import { hostSettings } from "../support/peers/host_settings.ts";

function stage<Adapters>(open: (clients: OctokitClients) => Adapters): () => Promise<GitHostStage<Adapters>> {
  return async () => {
    const host = await EmulatedGitHost.start();
    const adapters = open(new OctokitClients(hostSettings(host)));
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
commitStatusesContract(
  "octokit",
  stage((clients) => new OctokitCommitStatuses(clients)),
);
pullRequestCommentsContract(
  "octokit",
  stage((clients) => new OctokitPullRequestComments(clients)),
);
