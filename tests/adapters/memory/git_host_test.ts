import { MemoryCommandLineLogin } from "../../../adapters/memory/command_line_login.ts";
import { MemoryCommitStatuses } from "../../../adapters/memory/commit_statuses.ts";
import { MemoryGitAccounts } from "../../../adapters/memory/git_accounts.ts";
import { MemoryGitHooks } from "../../../adapters/memory/git_hooks.ts";
import { MemoryGitHostState } from "../../../adapters/memory/git_host.ts";
import { MemoryGitRepositories } from "../../../adapters/memory/git_repositories.ts";
import { MemoryPullRequestComments } from "../../../adapters/memory/pull_request_comments.ts";
import { Secret } from "../../../domain/secret.ts";
import { commandLineLoginContract } from "../../contracts/command_line_login.ts";
import { commitStatusesContract } from "../../contracts/commit_statuses.ts";
import { gitAccountsContract } from "../../contracts/git_accounts.ts";
import { gitHooksContract } from "../../contracts/git_hooks.ts";
import type { GitHostStage } from "../../contracts/git_host_stage.ts";
import { gitRepositoriesContract } from "../../contracts/git_repositories.ts";
import { pullRequestCommentsContract } from "../../contracts/pull_request_comments.ts";

function stage<Adapters>(open: (host: MemoryGitHostState) => Adapters): () => Promise<GitHostStage<Adapters>> {
  return async () => {
    const host = new MemoryGitHostState();
    const redirectUrl = "https://slipway.example.com/connect/redirect";
    return { host, adapters: open(host), redirectUrl, async [Symbol.asyncDispose]() {} };
  };
}

gitRepositoriesContract(
  "memory",
  stage((host) => new MemoryGitRepositories(host)),
);
gitAccountsContract(
  "memory",
  stage((host) => new MemoryGitAccounts(host)),
);
gitHooksContract(
  "memory",
  stage((host) => new MemoryGitHooks(host)),
);
commitStatusesContract(
  "memory",
  stage((host) => new MemoryCommitStatuses(host)),
);
pullRequestCommentsContract(
  "memory",
  stage((host) => new MemoryPullRequestComments(host)),
);
commandLineLoginContract("memory", async (token) => {
  const host = new MemoryGitHostState();
  host.commandLineToken = token === undefined ? undefined : new Secret(token);
  return new MemoryCommandLineLogin(host);
});
