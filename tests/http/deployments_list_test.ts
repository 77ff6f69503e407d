import { describe, expect, test } from "bun:test";
import { member, memoryApp } from "../support/apps/app.ts";
import { deployingApp } from "../support/apps/deploying_app.ts";

describe("GET /api/deployments", () => {
  test("filters by status, environment or branch", async () => {
    await using app = await deployingApp();
    const projectId = await app.project();
    const live = await app.deployed(projectId, { branch: "main" });
    const preview = await app.deployed(projectId, { environment: "preview" });
    const held = await app.deploy(projectId, { start: false, branch: "main" });
    const listed = async (query: string) => (await app.get(`?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await listed("status=ready")).toEqual([preview, live]);
    expect(await listed("status=queued")).toEqual([held]);
    expect(await listed("environment=preview")).toEqual([preview]);
    expect(await listed("branch=main")).toEqual([held, live]);
    expect(await listed(`projectId=${projectId}&status=ready&environment=production&branch=main`)).toEqual([live]);
    expect(await listed("branch=mai")).toEqual([]);
    const { token } = await member(app, "restricted", {
      grants: [{ resource: "deployment", id: preview, action: "list" }],
    });
    const seen = async (query: string) => (await app.get(`?${query}`, token)).body.total;
    expect([await seen("status=ready"), await seen("status=queued"), await seen("branch=main")]).toEqual([1, 0, 0]);
    expect([await seen(`projectId=${projectId}`), await seen("projectId=prj_other")]).toEqual([1, 0]);
  });

  test.each([
    [
      "status=banana",
      "status",
      "must be one of queued, building, deploying, ready, failed, cancelled, partial_failure, rejected, superseded",
    ],
    ["status=", "status", expect.any(String)],
    ["environment=staging", "environment", "must be one of production, preview"],
  ])("refuses ?%s: %s %s", async (query, path, message) => {
    const { call, owner } = await memoryApp();
    const { status, body } = await call("GET", `/api/deployments?${query}`, { token: owner });
    expect([status, body.details]).toEqual([400, [{ path, message }]]);
  });
});
