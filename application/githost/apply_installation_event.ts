import { fieldsOf } from "../../domain/githost/push.ts";
import type { DeliveryDecision } from "../../domain/githost/webhook_delivery.ts";
import type { AppInstallations } from "../../ports/githost/app_installations.ts";

/** Follows an account that uninstalls, suspends or allows the app. Projects stay. */
export async function applyInstallationEvent(
  installations: AppInstallations,
  action: string | null,
  body: unknown,
): Promise<readonly DeliveryDecision[]> {
  const id = installationIn(body);
  const installation = id === undefined ? undefined : await installations.find(id);
  if (!installation) return [];
  const { organizationId, account } = installation;
  const about = { projectId: null, organizationId, deploymentId: null, branch: null, commitSha: null };
  const applied = (reason: string): DeliveryDecision[] => [{ ...about, decision: "applied", reason }];
  if (action === "deleted") {
    await installations.remove(installation.id);
    return applied(`"${account.login}" has uninstalled the app`);
  }
  if (action !== "suspend" && action !== "unsuspend") return [];
  await installations.suspend(installation.id, action === "suspend");
  return applied(`"${account.login}" has ${action === "suspend" ? "suspended the app" : "allowed the app again"}`);
}

/** Returns the installation of the app that an event is about. */
export function installationIn(body: unknown): number | undefined {
  const { id } = fieldsOf(fieldsOf(body)["installation"]);
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}
