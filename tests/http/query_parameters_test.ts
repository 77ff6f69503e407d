import { expect, test } from "bun:test";
import { memoryApp } from "../support/apps/app.ts";
import { ACCESS_TABLE } from "../support/inputs/access_table.ts";
import { furnish, goodRequest, MACHINE } from "../support/apps/furnished.ts";

/** Parameters that cache busters, EventSource polyfills and trackers add. */
const UNKNOWN = "_=1700000000000&lastEventId=5&utm_source=x&a%00b=%00&__proto__=x&constructor&_=2&toString=1";

const reading = ACCESS_TABLE.filter(({ method, path }) => method === "GET" && path !== "/metrics");

test("unknown parameters make no difference", async () => {
  const app = await memoryApp();
  app.world.remoteHosts.add(MACHINE);
  const ids = await furnish(app);
  for (const { method, path } of reading) {
    const known = goodRequest(method, path, ids, "owner").path;
    // Every response has another token.
    if (path.endsWith("/clone-token")) continue;
    const plain = await app.call(method, known, { token: app.owner });
    const extended = await app.call(method, `${known}?${UNKNOWN}`, { token: app.owner });
    expect([path, extended.status, extended.text]).toEqual([path, plain.status, plain.text]);
  }
});

test("unknown parameters make no difference to a change either", async () => {
  const { call, owner } = await memoryApp();
  const body = { name: "Harbour" };
  expect((await call("POST", `/api/projects?${UNKNOWN}`, { token: owner, body })).status).toBe(201);
});

test("known parameters next to unknown ones are validated and applied", async () => {
  const { call, owner } = await memoryApp();
  const list = (query: string) => call("GET", `/api/projects?${UNKNOWN}&${query}`, { token: owner });
  expect((await list("perPage=7")).body.perPage).toBe(7);
  expect((await list("perPage=0")).body.details).toEqual([
    { path: "perPage", message: "must be a whole number from 1 to 100" },
  ]);
  expect((await list("search=%00")).status).toBe(400);
});
