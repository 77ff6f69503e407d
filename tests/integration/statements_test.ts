import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ownerSession } from "../support/apps/app.ts";
import { fillPath, furnish } from "../support/apps/furnished.ts";
import { postgresApp } from "../support/database/postgres_app.ts";

const PATHS = [
  "/api/auth/me",
  "/api/organizations",
  "/api/tokens",
  "/api/members",
  "/api/members/invitations",
  "/api/audit",
  "/api/projects",
  "/api/projects/:id",
  "/api/projects/:id/env",
  "/api/projects/:id/deploy-key",
  "/api/projects/:id/volumes",
  "/api/projects/:id/webhook-deliveries",
  "/api/projects/folder/sessions",
  "/api/domains",
  "/api/servers",
  "/api/servers/:id",
  "/api/backup-destinations",
  "/api/backup-destinations/:id",
  "/api/cloud/link",
  "/metrics",
  "/api/deployments",
  "/api/deployments/:id",
  "/api/deployments/:id/logs",
  "/api/deployments/:id/build",
  "/api/deployments/:id/info",
  "/api/deployments/:id/usage",
];

/** A single response for as long as the client is connected. */
const STREAM = "/api/deployments/:id/stream";

describe("an authenticated read costs at most two statements", () => {
  const statements: string[] = [];
  let app: Awaited<ReturnType<typeof postgresApp>>;
  let ids: Awaited<ReturnType<typeof furnish>>;
  let cookie: string;

  beforeAll(async () => {
    // The times of credential uses are written in batches now and then; no read waits for that.
    app = await postgresApp({ usesMs: 3_600_000, onStatement: (text) => statements.push(text) });
    ids = await furnish(app);
    cookie = await ownerSession(app);
  });

  afterAll(() => app[Symbol.asyncDispose]());

  async function cost(path: string, credential: { token: string } | { cookie: string }): Promise<readonly string[]> {
    await app.call("GET", path, credential);
    statements.length = 0;
    const { status } = await app.call("GET", path, credential);
    expect(status).toBe(200);
    return [...statements];
  }

  test.each(PATHS)("GET %s", async (path) => {
    const filled = fillPath(path, ids);
    for (const credential of [{ token: app.owner }, { cookie }]) {
      const sent = await cost(filled, credential);
      expect(sent.length, sent.join("\n\n")).toBeLessThanOrEqual(2);
    }
  });

  test("GET of a queued deployment", async () => {
    const sent = await cost(`/api/deployments/${ids.queued}`, { token: app.owner });
    expect(sent.length, sent.join("\n\n")).toBeLessThanOrEqual(2);
  });

  test("covers every guarded route that reads", () => {
    const reads = app.routes.filter(({ method, open }) => method === "GET" && open === undefined);
    // A read of the git host costs a request to it, which takes many times as long.
    const own = reads.filter(({ path }) => !path.startsWith("/api/githost/"));
    expect(own.map(({ path }) => path).toSorted()).toEqual([...PATHS, STREAM].toSorted());
  });

  test("an unauthenticated request costs at most one", async () => {
    statements.length = 0;
    expect((await app.call("GET", "/api/projects", { token: "slp_unknown" })).status).toBe(401);
    expect((await app.call("GET", "/api/projects")).status).toBe(401);
    expect(statements.length).toBe(1);
  });
});
