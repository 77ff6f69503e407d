import { commitReportsContract } from "./commit_reports.ts";
import { connectAttemptsContract } from "./connect_attempts.ts";
import { deviceAttemptsContract } from "./device_attempts.ts";
import { gitHostChoicesContract } from "./git_host_choices.ts";
import { appInstallationsContract } from "./app_installations.ts";
import { linkedProjectsContract } from "./linked_projects.ts";
import { oauthAccountsContract } from "./oauth_accounts.ts";
import { pullRequestsContract } from "./pull_requests.ts";
import { repositoryHooksContract } from "./repository_hooks.ts";
import type { StoreWorld } from "./store_world.ts";
import { webhookDeliveriesContract } from "./webhook_deliveries.ts";

/** Runs the contract tests of the stores of the git host connection. */
export function gitHostStoreContracts(name: string, open: () => Promise<StoreWorld>) {
  appInstallationsContract(name, open);
  oauthAccountsContract(name, open);
  connectAttemptsContract(name, open);
  deviceAttemptsContract(name, open);
  repositoryHooksContract(name, open);
  gitHostChoicesContract(name, open);
  linkedProjectsContract(name, open);
  webhookDeliveriesContract(name, open);
  commitReportsContract(name, open);
  pullRequestsContract(name, open);
}
