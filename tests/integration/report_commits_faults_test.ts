import { describe, expect, test } from "bun:test";
import { reportCommits } from "../../application/githost/report_commits.ts";
import { watchOutbox } from "../../application/githost/watch_outbox.ts";
import { aReporter, commitReportScene, LINKED } from "../support/apps/commit_report_scene.ts";
import { aProject } from "../support/database/store_builders.ts";
import { eventually } from "../support/eventually.ts";
import { intercepted } from "../support/faults/intercepted.ts";

const HOUR = 3_600_000;

describe("a host that fails", () => {
  test("is tried again with growing pauses", async () => {
    const scene = await commitReportScene();
    scene.host.fail("down");
    await scene.deployment({ status: "ready" });
    expect(await scene.report()).toBe(5_000);
    scene.memory.clock.advance(4_999);
    expect(await scene.report()).toBe(1);
    scene.memory.clock.advance(1);
    expect(await scene.report()).toBe(30_000);
    scene.host.fail(null);
    scene.memory.clock.advance(30_000);
    expect(await scene.report()).toBeNull();
    expect(scene.shown()).toEqual(["success: Deployed"]);
    expect(scene.log.lines).toEqual([]);
  });

  test("is given up in the end, with one warning, until the status changes", async () => {
    const scene = await commitReportScene();
    scene.host.fail("down");
    const deployment = await scene.deployment({ status: "building" });
    let attempts = 0;
    for (let waitMs = await scene.report(); waitMs !== null; waitMs = await scene.report()) {
      scene.memory.clock.advance(waitMs);
      attempts++;
    }
    expect(attempts).toBe(5);
    expect(scene.logged("warn")).toHaveLength(1);
    expect(scene.logged("warn")[0]).toContain(deployment.id);
    scene.host.fail(null);
    expect(await scene.report()).toBeNull();
    expect(scene.shown()).toEqual([]);
    await scene.change(deployment, { status: "ready" });
    await scene.report();
    expect(scene.shown()).toEqual(["success: Deployed"]);
  });

  test("limits its rate: the pause is as long as it asks for", async () => {
    const scene = await commitReportScene();
    scene.host.fail({ rateLimitedForSeconds: 900 });
    const deployment = await scene.deployment({ status: "building" });
    expect(await scene.report()).toBe(900_000);
    // The next status waits, too.
    await scene.change(deployment, { status: "ready" });
    expect(await scene.report()).toBe(900_000);
    scene.host.fail(null);
    scene.memory.clock.advance(900_000);
    await scene.report();
    expect(scene.shown()).toEqual(["success: Deployed"]);
  });

  test("does not keep a bug from being given up", async () => {
    const scene = await commitReportScene();
    const broken = intercepted(scene.memory.commitStatuses, "put", () => Promise.reject(new TypeError("A bug")));
    const report = aReporter(scene.portsWith(broken));
    await scene.deployment({ status: "ready" });
    for (let waitMs = await report(); waitMs !== null; waitMs = await report()) scene.memory.clock.advance(waitMs);
    expect(scene.logged("warn")).toHaveLength(1);
  });
});

describe("an access without the permission", () => {
  test("is not tried again for an hour, and logged once", async () => {
    const scene = await commitReportScene();
    const puts: string[] = [];
    const counted = intercepted(scene.memory.commitStatuses, "put", (proceed) => {
      puts.push("put");
      return proceed();
    });
    const report = aReporter(scene.portsWith(counted));
    scene.host.suspend(scene.installationId, true);
    const deployment = await scene.deployment();
    for (const status of ["building", "deploying", "ready"] as const) {
      await scene.change(deployment, { status });
      expect(await report()).toBeNull();
    }
    expect(puts).toHaveLength(1);
    expect(scene.log.lines.map(({ level }) => level)).toEqual(["debug"]);
    scene.host.suspend(scene.installationId, false);
    scene.memory.clock.advance(HOUR);
    await scene.deployment({ status: "ready" });
    expect(await report()).toBeNull();
    expect(scene.shown()).toEqual(["success: Deployed"]);
  });

  test("gives way to another source that has it", async () => {
    const scene = await commitReportScene();
    scene.host.suspend(scene.installationId, true);
    scene.host.addAccount("ada");
    scene.host.addMember("acme", "ada");
    scene.host.commandLineToken = scene.host.issueToken("ada");
    const own = await scene.memory.installation.organizationId();
    const project = await aProject(scene.memory, { organizationId: own!, slug: "mine", settings: LINKED });
    const at = { organizationId: own!, projectId: project.id };
    const app = { ...scene.host.installation(scene.installationId), connectedBy: "usr_1", connectedAt: new Date() };
    await scene.memory.appInstallations.remove(scene.installationId);
    await scene.memory.appInstallations.connect({ ...app, suspended: false, organizationId: own! });
    await scene.deployment({ ...at, status: "ready" });
    await scene.report();
    expect(scene.statuses().map(({ context }) => context)).toEqual(["slipway/mine"]);
  });

  test("is silent where the git host is not connected at all", async () => {
    const scene = await commitReportScene();
    await scene.memory.appInstallations.remove(scene.installationId);
    await scene.deployment({ status: "ready" });
    expect(await scene.report()).toBeNull();
    expect(scene.log.lines.map(({ level }) => level)).toEqual(["debug"]);
  });

  test("is another thing than a commit that the repository does not have any more", async () => {
    const scene = await commitReportScene();
    await scene.deployment({ status: "failed", commitSha: "ab".repeat(20) });
    expect(await scene.report()).toBeNull();
    await scene.deployment({ status: "ready" });
    await scene.report();
    expect(scene.shown()).toEqual(["success: Deployed"]);
  });
});

describe("watchOutbox()", () => {
  test("reports without being asked, and ends when told to", async () => {
    const scene = await commitReportScene();
    const stopping = new AbortController();
    const watching = watchOutbox(reportCommits(scene.portsWith()))(stopping.signal);
    const deployment = await scene.deployment();
    await scene.change(deployment, { status: "ready" });
    await eventually(
      async () => scene.shown().at(-1),
      (last) => last === "success: Deployed",
    );
    stopping.abort();
    await watching;
    expect(scene.log.lines).toEqual([]);
  });

  test("goes on when the database fails", async () => {
    const scene = await commitReportScene();
    let left = 1;
    const commitReports = intercepted(scene.memory.commitReports, "take", (proceed) =>
      left-- > 0 ? Promise.reject(new Error("Broken on purpose")) : proceed(),
    );
    const stopping = new AbortController();
    await scene.deployment({ status: "ready" });
    const watching = watchOutbox(reportCommits({ ...scene.portsWith(), commitReports }))(stopping.signal);
    await eventually(
      async () => scene.shown(),
      (shown) => shown.length > 0,
    );
    stopping.abort();
    await watching;
    expect(scene.logged("warn")).toHaveLength(1);
  });
});
