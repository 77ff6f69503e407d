import { Elysia, t } from "elysia";
import type { Access } from "../access.ts";
import type { Metrics } from "../metrics.ts";
import { operation } from "../operation.ts";
import { problem } from "../problems.ts";
import { MODE, RUNTIME } from "../meanings.ts";
import { explained, object } from "../schema.ts";

/** Facts that the server publishes about itself. */
export interface SystemFacts {
  readonly version: string;
  readonly mode: "self-hosted" | "cloud";
  readonly runtime: () => Promise<"docker" | "process">;
  readonly databaseAnswers: () => boolean | Promise<boolean>;
  readonly metrics: Metrics;
  /** The OpenAPI document and the page rendered from it. Both are built on first use. */
  readonly openapi: () => object;
  readonly docs: () => Response;
}

const Mode = explained(MODE, { title: "Mode", description: "Mode of the installation" });
const Version = t.String({ description: "The version of Slipway", examples: ["0.1.0"] });

const Health = object({
  status: t.Literal("ok", { description: "The service works; otherwise the response is a Problem" }),
  version: Version,
  mode: Mode,
});

const Environment = object({
  selfHosted: t.Boolean({ description: "Whether the mode is self-hosted" }),
  mode: Mode,
  runtime: explained(RUNTIME, { title: "Runtime", description: "Runtime of deployments" }),
  version: Version,
  authMode: t.Literal("local", { description: "Where accounts are stored: in this installation" }),
});

/** Routes of health, facts, metrics and documentation. */
export function systemRoutes(access: Access, facts: SystemFacts) {
  const { version, mode } = facts;
  const health = healthOf(facts);
  return new Elysia({ tags: ["System"] })
    .use(access)
    .get(
      "/api/health",
      () => {
        const answers = facts.databaseAnswers();
        return typeof answers === "boolean" ? health(answers) : answers.then(health);
      },
      {
        open: "Load balancers send no credentials",
        ...operation({
          name: "system.health",
          summary: "Check the service's health",
          answer: Health,
          problems: [503],
          routine: true,
        }),
      },
    )
    .get(
      "/api/health/env",
      async () => ({
        selfHosted: mode === "self-hosted",
        mode,
        runtime: await facts.runtime(),
        version,
        authMode: "local",
      }),
      {
        open: "Clients adapt to the installation before they log in",
        ...operation({ name: "system.env", summary: "Get mode, runtime and version", answer: Environment }),
      },
    )
    .get("/api/openapi.json", () => facts.openapi(), {
      open: "The interface is no secret",
      ...operation({
        name: "system.openapi",
        summary: "Get this API as an OpenAPI 3.1 document",
        answer: t.Object({}, { title: "OpenAPI" }),
      }),
    })
    .get("/api/docs", () => facts.docs(), {
      open: "The interface is no secret",
      ...operation({ name: "system.docs", summary: "Get this API as an HTML page", answer: { media: "text/html" } }),
    })
    .get(
      "/metrics",
      () => new Response(facts.metrics.render(version), { headers: { "content-type": "text/plain; version=0.0.4" } }),
      {
        permission: "organization:read",
        ...operation({ name: "system.metrics", summary: "Get Prometheus metrics", answer: { media: "text/plain" } }),
      },
    );
}

/** Returns the response about the service's health. */
function healthOf({ version, mode }: SystemFacts) {
  return function (databaseAnswers: boolean) {
    if (databaseAnswers) return { status: "ok", version, mode };
    const error = "Cannot reach the database: requests succeed again once it is back";
    return problem(503, { error, code: "database_away" }, { "retry-after": "1" });
  };
}
