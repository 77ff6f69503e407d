import { describe, expect, test } from "bun:test";
import { memoryApp } from "../support/app.ts";
import { postgresApp } from "../support/postgres_app.ts";

const QUERIES = [
  ["/api/projects?search=%00", "search"],
  ["/api/projects?page=1&search=a%00b", "search"],
  ["/api/audit?target=prj_%00", "target"],
  ["/api/audit?action=%00", "action"],
  ["/api/domains?projectId=%00", "projectId"],
] as const;

describe.each(["memory", "PostgreSQL"])("a NUL character in a query, over %s", (store) => {
  test("is refused by the name of its part", async () => {
    await using opened = new AsyncDisposableStack();
    const app = store === "memory" ? await memoryApp() : opened.use(await postgresApp());
    for (const [path, name] of QUERIES) {
      const { status, body } = await app.call("GET", path, { token: app.owner });
      expect([path, status, body.code]).toEqual([path, 400, "invalid_request"]);
      expect(body.error).toBe(`Cannot accept "${name}": it holds a NUL character, which is in no text here`);
      expect(body.details).toMatchObject([{ path: name }]);
      expect((await app.call("GET", path)).status).toBe(401);
    }
  });
});
