import { describe, expect, test } from "bun:test";
import type { Permission } from "../../domain/identity/permission.ts";
import { memoryApp } from "../support/apps/app.ts";
import { furnish, goodRequest, MACHINE } from "../support/apps/furnished.ts";
import { actingAs, onProject } from "../support/apps/linked_cloud.ts";
import { ACCESS_TABLE, CALLERS } from "../support/inputs/access_table.ts";

/** The statuses for an owner that differ from those of a self-hosted installation. */
const IN_CLOUD_MODE: Readonly<Record<string, number>> = {
  "POST /api/migration/scan": 404,
  "POST /api/migration/adopt": 404,
  "GET /api/githost/local-status": 404,
  "GET /api/githost/connect/poll": 404,
  // The operator of a cloud configures it; no other cloud and no command-line login stands in.
  "POST /api/githost/connect": 400,
  "GET /api/cloud/link": 404,
  "PUT /api/cloud/link": 400,
  "DELETE /api/cloud/link": 404,
  // No other caller has answered the prompt before.
  "POST /api/deployments/:id/build/respond": 200,
};

/** Routes outside of projects, deployments and the git host that a link token may call. */
const ALSO_REACHED = ["GET /api/auth/me"];

/** Routes of the git host that need more than a link token may do. */
const GIT_HOST_ADMIN = [
  "DELETE /api/githost/repos/:owner/:repo",
  "DELETE /api/githost/repos/:owner/:repo/webhooks",
  "POST /api/githost/disconnect",
];

/** Routes that change nothing although their method is not GET. */
const READING = ["POST /api/deployments/ssl/status"];

const READER: readonly Permission[] = ["project:read", "deployment:read"];

const { routes } = await memoryApp({ mode: "cloud" });
const open = routes.filter(({ open: why }) => why !== undefined).map(({ method, path }) => `${method} ${path}`);
const mounted = routes.map(({ method, path }) => `${method} ${path}`);

type Row = (typeof ACCESS_TABLE)[number];

function ownerStatus({ route, statuses }: Row): number {
  return IN_CLOUD_MODE[route] ?? statuses[CALLERS.indexOf("owner")]!;
}

function linkStatus(row: Row): number {
  const { route, path } = row;
  const isReached = /^\/api\/(?:projects|domains|deployments|githost)(?:\/|$)/.test(path);
  const isAllowed = (isReached && !GIT_HOST_ADMIN.includes(route)) || ALSO_REACHED.includes(route);
  return isAllowed || open.includes(route) || !mounted.includes(route) ? ownerStatus(row) : 403;
}

function readerStatus(row: Row): number {
  const { route, method, path } = row;
  if (open.includes(route) || !mounted.includes(route)) return linkStatus(row);
  const isRead = (method === "GET" || READING.includes(route)) && !path.startsWith("/api/githost/");
  return isRead ? linkStatus(row) : 403;
}

/** The hosted cloud with one resource of every kind and a link token. */
async function cloud() {
  const app = await memoryApp({ mode: "cloud" });
  app.world.remoteHosts.add(MACHINE);
  const ids = await furnish(app);
  const minted = await app.call("POST", "/api/tokens", { token: app.owner, body: { name: "link", link: true } });
  return { app, ids, link: minted.body.data.token as string };
}

test("in cloud mode exactly the routes of migration are not mounted", () => {
  const missing = ACCESS_TABLE.map(({ route }) => route).filter((route) => !mounted.includes(route));
  expect(missing).toEqual(["POST /api/migration/scan", "POST /api/migration/adopt"]);
  const known = ACCESS_TABLE.map(({ route }) => route);
  expect(mounted.filter((route) => !known.includes(route))).toEqual([]);
});

describe.each(ACCESS_TABLE)("in cloud mode, $route", (row) => {
  const { method, path } = row;

  test("answers an owner as a self-hosted installation does, but for the exceptions", async () => {
    const { app, ids } = await cloud();
    const { path: filled, call } = goodRequest(method, path, ids, "owner");
    expect((await app.call(method, filled, { ...call, token: app.owner })).status).toBe(ownerStatus(row));
  });

  test("lets a link token reach projects, deployments and the git host only, and its members no more than they may", async () => {
    const { app, ids, link: token } = await cloud();
    const { path: filled, call } = goodRequest(method, path, ids, "owner");
    const ask = async (headers: Record<string, string> = {}) => {
      const answer = await app.call(method, filled, { ...call, token, headers });
      if (answer.status === 403) expect(answer.body.code).toMatch(/^(?:link_token|forbidden)$/);
      return answer.status;
    };
    const nobody = open.includes(row.route) || !mounted.includes(row.route) ? linkStatus(row) : 403;
    const itself = ALSO_REACHED.includes(row.route) ? 200 : nobody;
    expect(await ask(actingAs("usr_1"))).toBe(itself);
    const reader = actingAs("usr_2", { permissions: READER, grants: onProject(ids.project, "read") });
    expect(await ask(reader)).toBe(readerStatus(row));
    expect(await ask()).toBe(linkStatus(row));
  });
});
