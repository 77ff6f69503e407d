import { Elysia, t } from "elysia";
import type { Access } from "../access.ts";
import type { Metrics } from "../metrics.ts";
import { operation } from "../operation.ts";
import { problem } from "../problems.ts";
import { object, oneOf } from "../schema.ts";

/** What the service tells about itself. */
export interface SystemFacts {
  readonly version: string;
  readonly mode: "self-hosted" | "cloud";
  readonly runtime: () => Promise<"docker" | "process">;
  readonly databaseAnswers: () => Promise<boolean>;
  readonly metrics: Metrics;
  /** The OpenAPI document and the page made of it; both are built when first asked for. */
  readonly openapi: () => object;
  readonly docs: () => Response;
}

const Mode = oneOf(["self-hosted", "cloud"] as const);

const Health = object({ status: t.Literal("ok"), version: t.String({ examples: ["0.1.0"] }), mode: Mode });

const Environment = object({
  selfHosted: t.Boolean(),
  mode: Mode,
  runtime: oneOf(["docker", "process"] as const, { description: "What runs deployments" }),
  version: t.String({ examples: ["0.1.0"] }),
  authMode: t.Literal("local"),
});

/** Health, facts, metrics and documentation. */
export function systemRoutes(access: Access, facts: SystemFacts) {
  const { version, mode } = facts;
  return new Elysia({ tags: ["System"] })
    .use(access)
    .get(
      "/api/health",
      async () => {
        if (await facts.databaseAnswers()) return { status: "ok", version, mode };
        const error = "Cannot reach the database: requests are answered again once it is back";
        return problem(503, { error, code: "database_away" }, { "retry-after": "1" });
      },
      {
        open: "Load balancers ask without credentials",
        ...operation({ name: "system.health", summary: "Whether the service works", answer: Health, problems: [503] }),
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
        ...operation({ name: "system.env", summary: "What kind of installation this is", answer: Environment }),
      },
    )
    .get("/api/openapi.json", () => facts.openapi(), {
      open: "The interface is no secret",
      ...operation({
        name: "system.openapi",
        summary: "This interface as OpenAPI 3.1",
        answer: t.Object({}, { title: "OpenAPI" }),
      }),
    })
    .get("/api/docs", () => facts.docs(), {
      open: "The interface is no secret",
      ...operation({ name: "system.docs", summary: "This interface as a page", answer: { media: "text/html" } }),
    })
    .get(
      "/metrics",
      () => new Response(facts.metrics.render(version), { headers: { "content-type": "text/plain; version=0.0.4" } }),
      {
        permission: "organization:read",
        ...operation({ name: "system.metrics", summary: "Counters for Prometheus", answer: { media: "text/plain" } }),
      },
    );
}
