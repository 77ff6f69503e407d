import { Failure, invalid } from "../../domain/failure.ts";
import { fieldsOf, readPush, repositoryIn } from "../../domain/githost/push.ts";
import { fullName } from "../../domain/githost/repository.ts";
import type { DeliveryDecision, DeliveryOutcome, WebhookDelivery } from "../../domain/githost/webhook_delivery.ts";
import { isSigned } from "../../domain/githost/webhook_signature.ts";
import type { Installations } from "../../ports/githost/installations.ts";
import type { LinkedProjects } from "../../ports/githost/linked_projects.ts";
import type { RepositoryHooks } from "../../ports/githost/repository_hooks.ts";
import { deployPush, type DeployPushPorts } from "./deploy_push.ts";
import type { GitHostSettings } from "./git_host_settings.ts";

export interface ReceiveWebhookPorts extends DeployPushPorts {
  readonly gitHost: GitHostSettings;
  readonly installations: Installations;
  readonly linkedProjects: LinkedProjects;
  readonly repositoryHooks: RepositoryHooks;
}

/** A request of the git host's webhook, as it came in. */
export interface WebhookRequest {
  readonly deliveryId: string | null;
  readonly event: string | null;
  readonly signature: string | null;
  readonly body: Uint8Array;
}

/** The git host waits for ten seconds. */
const LONGEST_WAIT_MS = 8_000;
const LOOK_MS = 50;

/** Who signed a delivery: the app, or the webhook that these organizations registered for a repository. */
type Signer = { readonly kind: "app" } | { readonly kind: "hook"; readonly organizationIds: readonly string[] };

/**
 * Carries out a webhook delivery once, and returns what it led to; a repeated one returns the same. Refuses with 401 what
 * is not signed with the app's secret or with that of a webhook that was registered here.
 */
export function receiveWebhook(ports: ReceiveWebhookPorts) {
  const deploy = deployPush(ports);
  const { clock, webhookDeliveries } = ports;
  return async function (request: WebhookRequest): Promise<DeliveryOutcome> {
    const body = parsed(request.body);
    const signer = await signerOf(request, body);
    if (body === undefined) throw invalid("invalid_json", "Cannot read the delivery: its body is not valid JSON");
    const { deliveryId, event } = request;
    if (!deliveryId || !/^[\w-]{1,100}$/.test(deliveryId) || !event || !/^\w{1,100}$/.test(event)) {
      const missing = "send X-GitHub-Event and X-GitHub-Delivery with it";
      throw invalid("invalid_delivery", `Cannot accept the delivery: ${missing}`);
    }
    const repository = repositoryIn(body);
    const { action } = fieldsOf(body);
    const delivery: WebhookDelivery = {
      deliveryId,
      event,
      action: typeof action === "string" ? action.slice(0, 100) : null,
      repository: repository ? fullName(repository) : null,
      receivedAt: clock.now(),
    };
    const begun = await begin(delivery);
    if (begun !== "new") return begun;
    const outcome = { decisions: await decisions(delivery, signer, body) };
    await webhookDeliveries.finish(deliveryId, outcome);
    return outcome;
  };

  /** Claims a delivery, or waits for the outcome of another request with the same one. */
  async function begin(delivery: WebhookDelivery): Promise<"new" | DeliveryOutcome> {
    for (let waitedMs = 0; waitedMs < LONGEST_WAIT_MS; waitedMs += LOOK_MS) {
      const begun = await webhookDeliveries.begin(delivery);
      if (begun !== "running") return begun;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    const sentence = "Cannot answer the delivery yet: it is still being carried out. Deliver it again";
    throw new Failure("unavailable", "delivery_running", sentence, { retryAfter: 5 });
  }

  async function signerOf({ body: bytes, signature }: WebhookRequest, body: unknown): Promise<Signer> {
    if (signature === null) throw unsigned("it has no X-Hub-Signature-256");
    const { webhookSecret } = ports.gitHost;
    if (webhookSecret && (await isSigned(bytes, signature, webhookSecret))) return { kind: "app" };
    const name = repositoryIn(body);
    const hooks = name ? await ports.repositoryHooks.secrets(name) : [];
    const organizationIds: string[] = [];
    for (const { organizationId, secret } of hooks) {
      if (await isSigned(bytes, signature, secret)) organizationIds.push(organizationId);
    }
    if (organizationIds.length > 0) return { kind: "hook", organizationIds };
    throw unsigned("no secret that is known here signs it");
  }

  async function decisions(
    { event, action }: WebhookDelivery,
    signer: Signer,
    body: unknown,
  ): Promise<readonly DeliveryDecision[]> {
    if (event === "push") return onPush(signer, body);
    if (event === "installation" && signer.kind === "app") return onInstallation(action, body);
    return [];
  }

  async function onPush(signer: Signer, body: unknown): Promise<readonly DeliveryDecision[]> {
    const push = readPush(body);
    if (!push) throw invalid("invalid_delivery", "Cannot accept the push: it does not name what was pushed where");
    const organizationIds = signer.kind === "hook" ? signer.organizationIds : await organizationsOf(body);
    const projects = await ports.linkedProjects.of(push.repository);
    const decided: DeliveryDecision[] = [];
    for (const project of projects) {
      if (organizationIds.includes(project.organizationId)) decided.push(await deploy(push, project));
    }
    return decided;
  }

  /** The app signs for all accounts, so only the organization that its installation belongs to may act. */
  async function organizationsOf(body: unknown): Promise<readonly string[]> {
    const id = installationIn(body);
    const installation = id === undefined ? undefined : await ports.installations.find(id);
    return installation && !installation.suspended ? [installation.organizationId] : [];
  }

  async function onInstallation(action: string | null, body: unknown): Promise<readonly DeliveryDecision[]> {
    const id = installationIn(body);
    const installation = id === undefined ? undefined : await ports.installations.find(id);
    if (!installation) return [];
    const { organizationId, account } = installation;
    const about = { projectId: null, organizationId, deploymentId: null, branch: null, commitSha: null };
    const applied = (reason: string): DeliveryDecision[] => [{ ...about, decision: "applied", reason }];
    if (action === "deleted") {
      await ports.installations.remove(installation.id);
      return applied(`"${account.login}" has uninstalled the app`);
    }
    if (action !== "suspend" && action !== "unsuspend") return [];
    await ports.installations.suspend(installation.id, action === "suspend");
    return applied(`"${account.login}" has ${action === "suspend" ? "suspended the app" : "allowed the app again"}`);
  }
}

function installationIn(body: unknown): number | undefined {
  const { id } = fieldsOf(fieldsOf(body)["installation"]);
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function unsigned(why: string): Failure {
  const advice = "Register the webhook with POST /api/githost/repos/:owner/:repo/webhooks";
  return new Failure("unauthenticated", "bad_signature", `Cannot accept the delivery: ${why}. ${advice}`);
}
