import { Failure, invalid } from "../../domain/failure.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { GitRepositories } from "../../ports/githost/git_repositories.ts";
import { registerWebhook, type WebhookPorts } from "../githost/webhooks.ts";

export interface EnsureReportedPorts extends WebhookPorts {
  readonly gitRepositories: GitRepositories;
}

/**
 * Makes sure that the git host reports what happens in a repository: by the app, or by a webhook of the repository, which
 * is registered. `action` is what cannot be done otherwise, for people.
 */
export function ensureReported(ports: EnsureReportedPorts) {
  const register = registerWebhook(ports);
  return async function (
    by: Principal,
    name: RepositoryName,
    { action, signal }: { readonly action: string; readonly signal: AbortSignal },
  ): Promise<void> {
    if (await isReported(name, by, signal)) return;
    await register(by, name, signal).catch((error: unknown) => explain(error, action));
  };

  /** Whether the webhook of the app reports what happens in a repository. */
  async function isReported(
    { owner, repo }: RepositoryName,
    { organizationId }: Principal,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!ports.gitHost.webhookSecret) return false;
    const installations = await ports.appInstallations.list(organizationId);
    const own = installations.find(
      ({ account, suspended }) => !suspended && account.login.toLowerCase() === owner.toLowerCase(),
    );
    if (!own) return false;
    // The app may be installed on some repositories of the account only.
    const seen = await ports.gitRepositories.list({ kind: "installation", installationId: own.id }, signal);
    return seen.some(({ name }) => name.toLowerCase() === repo.toLowerCase());
  }
}

function explain(error: unknown, action: string): never {
  if (!(error instanceof Failure) || error.code !== "githost_not_connected") throw error;
  throw invalid(
    "auto_deploy_unavailable",
    `Cannot ${action}: the git host is not connected, so it reports none. Connect it with ` +
      "POST /api/githost/connect, or deploy with POST /api/deployments after a push",
  );
}
