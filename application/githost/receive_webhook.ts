import { invalid } from "../../domain/failure.ts";
import { readPullRequest } from "../../domain/githost/pull_request.ts";
import { fieldsOf, readPush, repositoryIn } from "../../domain/githost/push.ts";
import { fullName, isSameRepository, type RepositoryName } from "../../domain/githost/repository.ts";
import type { DeliveryDecision, DeliveryOutcome, WebhookDelivery } from "../../domain/githost/webhook_delivery.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { AppInstallations } from "../../ports/githost/app_installations.ts";
import type { LinkedProjects } from "../../ports/githost/linked_projects.ts";
import type { AuditTrail } from "../system/audit_trail.ts";
import { applyInstallationEvent, installationIn } from "./apply_installation_event.ts";
import { beginDelivery } from "./begin_delivery.ts";
import { deployPush, ignoredPush } from "./deploy_push.ts";
import { ignoredPullRequest, previewPullRequest, type PreviewPullRequestPorts } from "./preview_pull_request.ts";
import { type Signer, webhookSigner, type WebhookSignerPorts } from "./webhook_signer.ts";

export interface ReceiveWebhookPorts extends PreviewPullRequestPorts, WebhookSignerPorts {
  readonly appInstallations: AppInstallations;
  readonly auditTrail: AuditTrail;
  readonly linkedProjects: LinkedProjects;
}

/** A request of the git host's webhook, as it came in. */
export interface WebhookRequest {
  readonly deliveryId: string | null;
  readonly event: string | null;
  readonly signature: string | null;
  readonly body: Uint8Array;
}

/** The decisions about a delivery, or the work that leads to them. */
type Work = readonly DeliveryDecision[] | (() => Promise<readonly DeliveryDecision[]>);

/** How many projects of one repository are decided about at a time. */
const AT_ONCE = 16;

/** The git host waits for ten seconds. */
const LONGEST_WAIT_MS = 7_000;

/**
 * Carries out a webhook delivery once, and returns what it led to; a repeated one returns the same. Refuses with 401 what
 * is not signed with the app's secret or with that of a webhook that was registered here.
 */
export function receiveWebhook(ports: ReceiveWebhookPorts) {
  const deploy = deployPush(ports);
  const preview = previewPullRequest(ports);
  const { webhookDeliveries } = ports;
  return async function (request: WebhookRequest): Promise<DeliveryOutcome> {
    const signer = await webhookSigner(ports, request);
    // Only now: parsing what anybody sends could take long.
    const body = parsed(request.body);
    if (body === undefined) throw invalid("invalid_json", "Cannot read the delivery: its body is not valid JSON");
    const about = repositoryIn(body);
    if (signer.kind === "hook" && !(about && isSameRepository(signer.repository, about)))
      throw invalid("invalid_delivery", "Cannot accept the delivery: it is about another repository than its webhook");
    const delivery = deliveryOf(request, { signer, body, at: ports.clock.now() });
    const work = await workOf(delivery, signer, body);
    const known = typeof work === "function" ? undefined : { decisions: work };
    if (known && (await webhookDeliveries.record(delivery, known))) return known;
    const begun = await beginDelivery(webhookDeliveries, delivery, LONGEST_WAIT_MS);
    if (begun !== "new") return begun;
    const outcome = { decisions: typeof work === "function" ? await work() : work };
    await webhookDeliveries.finish(delivery.deliveryId, outcome);
    return outcome;
  };

  /** Returns what to do about a delivery, or the decisions about one that needs nothing done. */
  async function workOf({ event, action }: WebhookDelivery, signer: Signer, body: unknown): Promise<Work> {
    if (event === "push") return onPush(signer, body);
    if (event === "pull_request") return onPullRequest(signer, body);
    const isAboutApp = event === "installation" || event === "installation_repositories";
    if (isAboutApp && signer.kind === "app") return () => applyInstallationEvent(ports, { event, action }, body);
    return [];
  }

  async function onPush(signer: Signer, body: unknown): Promise<Work> {
    const push = readPush(body);
    if (!push) throw invalid("invalid_delivery", "Cannot accept the push: it does not name what was pushed where");
    const projects = await concerned(push.repository, signer, body);
    const ignored = projects.flatMap((project) => ignoredPush(push, project) ?? []);
    return ignored.length === projects.length ? ignored : () => forEach(projects, (project) => deploy(push, project));
  }

  async function onPullRequest(signer: Signer, body: unknown): Promise<Work> {
    const pullRequest = readPullRequest(body);
    if (!pullRequest) {
      const missing = "it does not name the pull request and its newest commit";
      throw invalid("invalid_delivery", `Cannot accept the delivery: ${missing}`);
    }
    const projects = await concerned(pullRequest.repository, signer, body);
    const ignored = projects.flatMap((project) => ignoredPullRequest(pullRequest, project) ?? []);
    if (ignored.length === projects.length) return ignored;
    return () => forEach(projects, (project) => preview(pullRequest, project));
  }

  /** Returns the projects that a delivery about a repository may act on. */
  async function concerned(name: RepositoryName, signer: Signer, body: unknown): Promise<readonly Project[]> {
    const [organizationIds, linked] = await Promise.all([
      signer.kind === "hook" ? signer.organizationIds : organizationsOf(ports.appInstallations, body),
      ports.linkedProjects.of(name),
    ]);
    return linked.filter(({ organizationId }) => organizationIds.includes(organizationId));
  }
}

async function forEach(
  projects: readonly Project[],
  decide: (project: Project) => Promise<DeliveryDecision>,
): Promise<readonly DeliveryDecision[]> {
  const decided: DeliveryDecision[] = [];
  for (let first = 0; first < projects.length; first += AT_ONCE) {
    decided.push(...(await Promise.all(projects.slice(first, first + AT_ONCE).map(decide))));
  }
  return decided;
}

/** A git host gives all webhooks that report an event the same id, so the key is the id together with the signer. */
function deliveryOf(
  { deliveryId, event }: WebhookRequest,
  { signer, body, at }: { readonly signer: Signer; readonly body: unknown; readonly at: Date },
): WebhookDelivery {
  if (!deliveryId || !/^[\w-]{1,100}$/.test(deliveryId) || !event || !/^\w{1,100}$/.test(event)) {
    const missing = "send X-GitHub-Event and X-GitHub-Delivery with it";
    throw invalid("invalid_delivery", `Cannot accept the delivery: ${missing}`);
  }
  const repository = repositoryIn(body);
  const { action } = fieldsOf(body);
  const hook = signer.kind === "hook" ? ` ${signer.organizationIds.toSorted().join(" ")}` : "";
  return {
    deliveryId: `${deliveryId}${hook}`,
    event,
    action: typeof action === "string" ? action.slice(0, 100) : null,
    repository: repository ? fullName(repository) : null,
    receivedAt: at,
  };
}

/** The app signs for all accounts, so only the organization that its installation belongs to may act. */
async function organizationsOf(installations: AppInstallations, body: unknown): Promise<readonly string[]> {
  const id = installationIn(body);
  const installation = id === undefined ? undefined : await installations.find(id);
  return installation && !installation.suspended ? [installation.organizationId] : [];
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
