import type { CommandLineLogin } from "./command_line_login.ts";
import type { CommitReports } from "./commit_reports.ts";
import type { CommitStatuses } from "./commit_statuses.ts";
import type { ConnectAttempts } from "./connect_attempts.ts";
import type { GitAccounts } from "./git_accounts.ts";
import type { GitHooks } from "./git_hooks.ts";
import type { GitHostChoices } from "./git_host_choices.ts";
import type { GitRepositories } from "./git_repositories.ts";
import type { AppInstallations } from "./app_installations.ts";
import type { LinkedProjects } from "./linked_projects.ts";
import type { OAuthAccounts } from "./oauth_accounts.ts";
import type { PullRequestComments } from "./pull_request_comments.ts";
import type { PullRequests } from "./pull_requests.ts";
import type { RepositoryHooks } from "./repository_hooks.ts";
import type { WebhookDeliveries } from "./webhook_deliveries.ts";

/** The git host ports that the application depends on. */
export interface GitHostPorts {
  readonly commandLineLogin: CommandLineLogin;
  readonly commitReports: CommitReports;
  readonly commitStatuses: CommitStatuses;
  readonly connectAttempts: ConnectAttempts;
  readonly gitAccounts: GitAccounts;
  readonly gitHooks: GitHooks;
  readonly gitHostChoices: GitHostChoices;
  readonly gitRepositories: GitRepositories;
  readonly appInstallations: AppInstallations;
  readonly linkedProjects: LinkedProjects;
  readonly oauthAccounts: OAuthAccounts;
  readonly pullRequestComments: PullRequestComments;
  readonly pullRequests: PullRequests;
  readonly repositoryHooks: RepositoryHooks;
  readonly webhookDeliveries: WebhookDeliveries;
}
