import { fieldsOf, repositoryNamed } from "../../domain/githost/push.ts";
import type { AppInstallation } from "../../domain/githost/app_installation.ts";
import type { DeliveryDecision, WebhookDelivery } from "../../domain/githost/webhook_delivery.ts";
import type { AuditTrail } from "../system/audit_trail.ts";
import { installationEntry } from "./host_audit.ts";
import type { AppInstallations } from "../../ports/githost/app_installations.ts";
import type { LinkedProjects } from "../../ports/githost/linked_projects.ts";

export interface InstallationEventPorts {
  readonly auditTrail: AuditTrail;
  readonly appInstallations: AppInstallations;
  readonly linkedProjects: LinkedProjects;
}

const NOTHING = { deploymentId: null, branch: null, commitSha: null } as const;

/** Follows an account that uninstalls, suspends or allows the app, or changes what it may see. Projects stay. */
export async function applyInstallationEvent(
  ports: InstallationEventPorts,
  { event, action }: Pick<WebhookDelivery, "event" | "action">,
  body: unknown,
): Promise<readonly DeliveryDecision[]> {
  const id = installationIn(body);
  const installation = id === undefined ? undefined : await ports.appInstallations.find(id);
  if (!installation) return [];
  return event === "installation"
    ? ownChange(ports, installation, action)
    : changedRepositories(ports.linkedProjects, installation, body);
}

async function ownChange(
  { appInstallations, auditTrail }: InstallationEventPorts,
  installation: AppInstallation,
  action: string | null,
): Promise<readonly DeliveryDecision[]> {
  const { id, organizationId, account } = installation;
  const applied = (reason: string): DeliveryDecision[] => [
    { ...NOTHING, projectId: null, organizationId, decision: "applied", reason },
  ];
  if (action === "deleted") {
    const entry = installationEntry(installation, "githost.uninstalled");
    await auditTrail.around(entry, () => appInstallations.remove(id));
    return applied(`"${account.login}" has uninstalled the app`);
  }
  if (action !== "suspend" && action !== "unsuspend") return [];
  const isSuspended = action === "suspend";
  const entry = installationEntry(installation, isSuspended ? "githost.suspended" : "githost.unsuspended");
  await auditTrail.around(entry, () => appInstallations.suspend(id, isSuspended));
  return applied(`"${account.login}" has ${isSuspended ? "suspended the app" : "allowed the app again"}`);
}

/** Tells the projects of repositories that the app has gained or lost. Nothing is stored about that: the host is asked. */
async function changedRepositories(
  linkedProjects: LinkedProjects,
  { organizationId }: AppInstallation,
  body: unknown,
): Promise<readonly DeliveryDecision[]> {
  const { repositories_added: added, repositories_removed: removed } = fieldsOf(body);
  const decisions: DeliveryDecision[] = [];
  for (const [list, reason] of [
    [added, "The app can see this repository now"],
    [removed, "The app cannot see this repository any more: another source has to clone it"],
  ] as const) {
    for (const each of (Array.isArray(list) ? list : []).slice(0, MOST)) {
      const name = repositoryNamed(fieldsOf(each)["full_name"]);
      const projects = name ? await linkedProjects.of(name) : [];
      const own = projects.filter((project) => project.organizationId === organizationId);
      for (const { id } of own)
        decisions.push({ ...NOTHING, projectId: id, organizationId, decision: "applied", reason });
    }
  }
  return decisions;
}

/** More are not looked up for one delivery. */
const MOST = 1_000;

/** Returns the installation of the app that an event is about. */
export function installationIn(body: unknown): number | undefined {
  const { id } = fieldsOf(fieldsOf(body)["installation"]);
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}
