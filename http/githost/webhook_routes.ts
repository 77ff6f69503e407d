import { Elysia, t } from "elysia";
import type { GitHostUseCases } from "../../application/githost/use_cases.ts";
import { Failure } from "../../domain/failure.ts";
import type { DeliveryOutcome, WebhookDecision } from "../../domain/githost/webhook_delivery.ts";
import type { Access } from "../access.ts";
import { DELIVERY_DECISION } from "../meanings.ts";
import { operation } from "../operation.ts";
import {
  described,
  done,
  explained,
  IdPath,
  integer,
  listResponse,
  many,
  nullable,
  object,
  PageQuery,
  Time,
  viewText,
} from "../schema.ts";

const MAX_BYTES = 26_214_400;

const deliveryText = viewText(deliveryView);

const DeliveryView = object(
  described(
    {
      deliveryId: t.String(),
      event: t.String({ examples: ["push"] }),
      action: nullable(t.String()),
      decision: explained(DELIVERY_DECISION, { title: "DeliveryDecision" }),
      reason: t.String(),
      branch: nullable(t.String()),
      commitSha: nullable(t.String()),
      deploymentId: nullable(t.String()),
      receivedAt: Time,
    },
    {
      deliveryId: "ID that the git host gave the delivery",
      event: "Name of the event",
      action: "What happened, for events that say so",
      decision: "What the delivery led to",
      reason: "Why, in a sentence",
      branch: "Branch that it is about",
      commitSha: "Commit that it is about",
      deploymentId: "Deployment that was queued for it",
      receivedAt: "Time when it was received",
    },
  ),
  { title: "WebhookDelivery" },
);

const ReceivedView = done({
  deployed: integer({ description: "Number of deployments that were queued" }),
  ignored: integer({ description: "Number of projects for which nothing was done" }),
});

/** The receiver of webhooks, and what its deliveries led to. */
export function webhookRoutes(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ tags: ["Git host"] })
    .use(access)
    .post(
      "/api/githost/webhook",
      async ({ request }) => {
        const outcome = await useCases.receiveWebhook({
          deliveryId: request.headers.get("x-github-delivery"),
          event: request.headers.get("x-github-event"),
          signature: request.headers.get("x-hub-signature-256"),
          body: await bytesOf(request),
        });
        return receivedView(outcome);
      },
      {
        open: "The git host has no credentials; every delivery is signed",
        ...operation({
          name: "githost.webhook",
          summary: "Receive a webhook delivery of the git host",
          answer: ReceivedView,
          problems: [401],
          streams: "application/json",
          unaudited: true,
          unrepeatable: true,
        }),
      },
    )
    .get(
      "/api/projects/:id/webhook-deliveries",
      ({ principal, params, query }) =>
        listResponse(query, (page) => useCases.listDeliveries(principal, params.id, page), deliveryText),
      {
        permission: "project:read",
        params: IdPath,
        query: PageQuery,
        ...operation({
          name: "project.list_deliveries",
          summary: "List what webhook deliveries led to for a project, newest first",
          answer: many(DeliveryView),
          problems: [404],
        }),
      },
    );
}

/** Reads the body as it was sent, because the signature covers these bytes. */
async function bytesOf({ body, headers }: Request): Promise<Uint8Array> {
  if (Number(headers.get("content-length") ?? 0) > MAX_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function tooLarge(): Failure {
  return new Failure("too_large", "delivery_too_large", `Cannot accept the delivery: it has over ${MAX_BYTES} bytes`);
}

function receivedView({ decisions }: DeliveryOutcome) {
  const count = (...wanted: readonly string[]) => decisions.filter(({ decision }) => wanted.includes(decision)).length;
  return { success: true, deployed: count("deployed"), ignored: count("ignored", "superseded") };
}

function deliveryView(decision: WebhookDecision) {
  const { event, action, reason, branch, commitSha, deploymentId, receivedAt } = decision;
  // Without the organizations that registered the webhook.
  const [deliveryId = ""] = decision.deliveryId.split(" ");
  const about = { reason, branch, commitSha, deploymentId, receivedAt: receivedAt.toISOString() };
  return { deliveryId, event, action, decision: decision.decision, ...about };
}
