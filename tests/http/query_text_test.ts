import { expect, test } from "bun:test";
import { memoryApp } from "../support/apps/app.ts";

const QUERIES = [
  ["/api/projects?search=%00", "search"],
  ["/api/projects?page=1&search=a%00b", "search"],
  ["/api/audit?target=prj_%00", "target"],
  ["/api/audit?action=%00", "action"],
  ["/api/domains?projectId=%00", "projectId"],
] as const;

test.each(QUERIES)(
  "a NUL character in %s is refused by the name of its parameter, before any store sees it",
  async (path, name) => {
    const app = await memoryApp();
    const { status, body } = await app.call("GET", path, { token: app.owner });
    expect([status, body.code]).toEqual([400, "invalid_request"]);
    expect(body.error).toBe(`Cannot accept "${name}": it contains a NUL character, which no text may contain`);
    expect(body.details).toMatchObject([{ path: name }]);
    expect((await app.call("GET", path)).status).toBe(401);
  },
);
