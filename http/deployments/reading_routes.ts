import { Elysia, t } from "elysia";
import type { DeploymentUseCases } from "../../application/deployments/use_cases.ts";
import type { ServiceUseCases } from "../../application/services/use_cases.ts";
import { STEP_PERCENT } from "../../domain/deployments/step_percent.ts";
import { howItEnded } from "../../domain/deployments/ending.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Access } from "../access.ts";
import { eventStream, type FeedEvent } from "../event_stream.ts";
import { operation } from "../operation.ts";
import { preferredMedia } from "../preferred_media.ts";
import { IdPath, integer, object, one } from "../schema.ts";
import { lineView, LogQuerySchema, sequenceOf, serviceViews, StreamQuery } from "./schemas.ts";
import { BuildView, InfoView, LogLineView, UsageView } from "./view_schemas.ts";

type UseCases = DeploymentUseCases & ServiceUseCases;

/** Dependencies of the live event stream, besides the use cases. */
export interface FeedOptions {
  readonly report: (error: unknown) => void;
  /** Authenticates the credential of a request, as of now. */
  readonly identify: (request: Request) => Promise<Principal>;
}

type Described = Awaited<ReturnType<ServiceUseCases["describeInstances"]>>;

const TEXT = "text/plain";
const RUNTIME_FEED = [
  "With `kind=runtime` it streams the output of the services, as `log` events with the numbers of",
  "`logs?kind=runtime`: first all stored lines after `since`, then each new line. Lines of the stream `slipway` are",
  "notes, for example about dropped output. The stream ends with an `end` event, which repeats the number of the last",
  "line, once the deployment is no longer live and all lines were sent. If nothing ever runs, as for a static site or",
  "a failed build, the response is 204.",
].join(" ");
const Logs = object({
  data: t.Array(LogLineView, { description: "Log lines, oldest first" }),
  nextSince: integer({ description: "Value of since for the next request" }),
});

/** Routes that read a deployment: its log, event stream, build and running instances. */
export function readingRoutes(access: Access, useCases: UseCases, feedOptions: FeedOptions) {
  return new Elysia({ prefix: "/api/deployments", tags: ["Deployments"] })
    .use(access)
    .use(logs(access, useCases))
    .get(
      "/:id/stream",
      async ({ principal, params, query, request }) => {
        const since = Math.max(sequenceOf(query.since), lastEventId(request));
        const left = new AbortController();
        const signal = AbortSignal.any([request.signal, left.signal]);
        const caller = () => feedOptions.identify(request);
        const options = { since, signal, caller };
        const events =
          query.kind === "runtime"
            ? await useCases.followOutput(principal, params.id, { ...options, service: query.service })
            : await useCases.followDeployment(principal, params.id, options);
        if (!events) return new Response(null, { status: 204 });
        return eventStream(feed(events), { report: feedOptions.report, onLeave: () => left.abort() });
      },
      {
        permission: "deployment:read",
        params: IdPath,
        query: StreamQuery,
        ...operation({
          name: "deployment.stream",
          summary: "Stream the events of a deployment as server-sent events; resume with since or Last-Event-ID",
          description: RUNTIME_FEED,
          answer: { media: "text/event-stream" },
          nothing: "The deployment has ended or is no longer live, and there are no events after the given number",
          problems: [404],
        }),
      },
    )
    .get(
      "/:id/build",
      async ({ principal, params }) => ({ data: buildView(await useCases.viewBuild(principal, params.id)) }),
      {
        permission: "deployment:read",
        params: IdPath,
        ...operation({
          name: "deployment.build",
          summary: "Get the state of the build",
          answer: one(BuildView),
          problems: [404],
        }),
      },
    )
    .use(running(access, useCases));
}

function logs(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/logs" }).use(access).get(
    "/:id/logs",
    async ({ principal, params, query, request, set }) => {
      const { service, kind = "build" } = query;
      const since = sequenceOf(query.since);
      const tail = query.tail === undefined ? undefined : Number(query.tail);
      set.headers.vary = "Accept";
      if (preferredMedia(request.headers.get("accept"), ["application/json", TEXT]) === TEXT) {
        const text = await useCases.downloadLogs(principal, params.id, { since, tail, kind, service });
        return new Response(streamOf(text), {
          headers: { "content-type": `${TEXT}; charset=utf-8`, vary: "Accept" },
        });
      }
      const wanted = { since, limit: Number(query.limit), tail, service, kind };
      const lines = await useCases.readLogs(principal, params.id, wanted);
      return { data: lines.map(lineView), nextSince: lines.at(-1)?.seq ?? since };
    },
    {
      permission: "deployment:read",
      params: IdPath,
      query: LogQuerySchema,
      ...operation({
        name: "deployment.logs",
        summary: "Read the log, also during the build; Accept: text/plain returns the whole log as text",
        answer: Logs,
        alternative: TEXT,
        problems: [404],
      }),
    },
  );
}

/** Returns the health that the deployment found, unless it has changed since. */
function healthOf({ exit, health, service, status }: Described["instances"][number], { services }: Deployment): string {
  const found = services.find(({ name }) => name === service)?.status ?? "pending";
  const isDown = status === "exited" || status === "restarting" || health === "unhealthy";
  // An unchanged service was healthy, or it would have been replaced. After a failed deployment, its previous version
  // runs.
  const isFormer = found === "unchanged" || found === "failed";
  if (found !== "healthy" && !isFormer) return found;
  if (isFormer && status === "exited" && exit?.reason === "exited" && exit.code === 0) return "done";
  if (status === "starting") return status;
  return isDown ? "unhealthy" : "healthy";
}

function running(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/instances" })
    .use(access)
    .get(
      "/:id/info",
      async ({ principal, params }) => {
        const { deployment, instances } = await useCases.describeInstances(principal, params.id);
        const services = instances.map((instance) => ({
          name: instance.service,
          containerId: instance.containerId,
          image: instance.image,
          status: instance.status === "restarting" ? ("failed" as const) : instance.status,
          health: healthOf(instance, deployment),
          error: instance.status === "restarting" && instance.exit ? `It ${howItEnded(instance.exit)}` : null,
          nextStartAt: instance.nextStartAt?.toISOString() ?? null,
          startedAt: instance.startedAt.toISOString(),
          restarts: instance.restarts,
          ports: instance.ports.map(({ inside }) => inside),
          address: instance.port === null ? null : `${instance.host}:${instance.port}`,
        }));
        return { data: { runtime: deployment.plan.runtime ?? "process", services } };
      },
      {
        permission: "deployment:read",
        params: IdPath,
        ...operation({
          name: "deployment.info",
          summary: "Get the running instances of a deployment",
          answer: one(InfoView),
          problems: [404],
        }),
      },
    )
    .get(
      "/:id/usage",
      async ({ principal, params }) => {
        const measured = await useCases.measureInstances(principal, params.id);
        return { data: usageView(measured.map(({ name, usage }) => ({ name, ...usage }))) };
      },
      {
        permission: "deployment:read",
        params: IdPath,
        ...operation({
          name: "deployment.usage",
          summary: "Get the resource usage of a deployment: CPU, memory and network",
          answer: one(UsageView),
          problems: [404],
        }),
      },
    );
}

type MeasuredService = (typeof UsageView.static)["services"][number];

function usageView(services: MeasuredService[]) {
  const limits = services.map(({ memoryLimitBytes }) => memoryLimitBytes);
  return {
    cpuPercent: Math.round((sumOf(services.map(({ cpuPercent }) => cpuPercent)) ?? 0) * 10) / 10,
    memoryBytes: sumOf(services.map(({ memoryBytes }) => memoryBytes)) ?? 0,
    // If one service has no limit, neither has the whole.
    memoryLimitBytes: limits.includes(null) ? null : sumOf(limits),
    networkRxBytes: sumOf(services.map(({ networkRxBytes }) => networkRxBytes)),
    networkTxBytes: sumOf(services.map(({ networkTxBytes }) => networkTxBytes)),
    services,
  };
}

/** Sums the known numbers; `null` when none is known. */
function sumOf(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length === 0 ? null : known.reduce((sum, number) => sum + number, 0);
}

function buildView({ deployment, lastSeq }: { readonly deployment: Deployment; readonly lastSeq: number }) {
  const { status, steps, prompt } = deployment;
  const current = steps.at(-1) ?? null;
  return {
    status,
    step: current?.name ?? null,
    percent: status === "ready" ? 100 : current ? STEP_PERCENT[current.name] : 0,
    steps: steps.map(({ name, status: how, startedAt, durationMs }) => ({
      name,
      status: how,
      startedAt: startedAt.toISOString(),
      durationMs,
    })),
    lastSeq,
    prompt:
      prompt && prompt.answer === null ? { ...promptView(prompt), expiresAt: prompt.expiresAt.toISOString() } : null,
    services: serviceViews(deployment),
  };
}

function promptView({ promptId, title, message, actions }: NonNullable<Deployment["prompt"]>) {
  return { promptId, title, message, actions };
}

const shown = new WeakMap<readonly DeploymentEvent[], readonly FeedEvent[]>();

/** Converts events to server-sent events. Followers of the same batch get the same array. */
async function* feed(batches: AsyncIterable<readonly DeploymentEvent[]>): AsyncGenerator<readonly FeedEvent[]> {
  for await (const events of batches) {
    const sent = shown.get(events) ?? events.map((event) => ({ id: event.seq, event: event.type, data: event }));
    shown.set(events, sent);
    yield sent;
  }
}

/** Streams text as it is generated, with backpressure. */
function streamOf(text: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const parts = text[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await parts.return?.();
    },
  });
}

function lastEventId(request: Request): number {
  const id = request.headers.get("last-event-id");
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : 0;
}
