import { Failure, invalid } from "../../domain/failure.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Project } from "../../domain/projects/project.ts";
import { registerWebhook, type WebhookPorts } from "../githost/webhooks.ts";
import { changeProject, type ChangeProjectPorts } from "./change_project.ts";
import { findProject } from "./find_project.ts";

export interface SwitchAutoDeployPorts extends ChangeProjectPorts, WebhookPorts {}

/**
 * Turns auto-deploy on push on or off. Turning it on makes sure that pushes are reported: by the app, or by a webhook of
 * the repository, which is registered.
 */
export function switchAutoDeploy(ports: SwitchAutoDeployPorts) {
  const find = findProject(ports);
  const change = changeProject(ports);
  const register = registerWebhook(ports);
  return async function (by: Principal, id: string, enabled: boolean, signal: AbortSignal): Promise<Project> {
    const { settings } = await find(by, id, "project:write");
    const { gitOwner: owner, gitRepo: repo } = settings;
    // Without a repository, the change below refuses it.
    if (enabled && owner && repo && !(await isReported({ owner, repo }, by, signal))) {
      await register(by, { owner, repo }, signal).catch(explain);
    }
    return change(by, id, { settings: { autoDeploy: enabled } });
  };

  /** Whether the webhook of the app reports the pushes of a repository. */
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

function explain(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== "githost_not_connected") throw error;
  throw invalid(
    "auto_deploy_unavailable",
    "Cannot deploy on every push: the git host is not connected, so it reports none. Connect it with " +
      "POST /api/githost/connect, or deploy with POST /api/deployments after a push",
  );
}
