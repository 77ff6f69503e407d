import { describe, expect, test } from "bun:test";
import { reportCommits } from "../../../application/githost/report_commits.ts";
import { watchOutbox } from "../../../application/githost/watch_outbox.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { CommitStatus } from "../../../domain/githost/commit_status.ts";
import {
  aReporter,
  type CommitReportScene,
  commitReportScene,
  GIT,
  LINKED,
} from "../../support/apps/commit_report_scene.ts";
import { eventually } from "../../support/eventually.ts";
import { intercepted } from "../../support/faults/intercepted.ts";

const MINUTE = 60_000;

function error(message: string): Deployment["error"] {
  return { code: "build_failed", message, step: "build" };
}

/** Takes a deployment through statuses and reports after each. */
async function through(scene: CommitReportScene, deployment: Deployment, changes: readonly Partial<Deployment>[]) {
  for (const change of changes) {
    await scene.change(deployment, change);
    await scene.report();
  }
}

describe("a deployment is reported to its commit", () => {
  test("each status once, in order, with its address", async () => {
    const scene = await commitReportScene();
    const deployment = await scene.deployment();
    await scene.report();
    const urls = ["https://shop.example.com"];
    await through(scene, deployment, [{ status: "building" }, { status: "deploying" }, { status: "ready", urls }]);
    await scene.report();
    const context = "slipway/shop";
    expect(scene.statuses()).toEqual([
      { state: "pending", description: "Waiting", targetUrl: null, context },
      { state: "pending", description: "Building", targetUrl: null, context },
      { state: "pending", description: "Deploying", targetUrl: null, context },
      { state: "success", description: "Deployed", targetUrl: "https://shop.example.com", context },
    ]);
    expect(await scene.report()).toBeNull();
    expect(scene.log.lines).toEqual([]);
  });

  test("a success without an address of its own links to the project", async () => {
    const scene = await commitReportScene();
    await scene.deployment({ status: "ready" });
    await scene.report();
    expect(scene.statuses()[0]?.targetUrl).toBe(`http://${scene.project.hostname}:4480`);
  });

  test("a preview has a context of its own", async () => {
    const scene = await commitReportScene();
    await scene.deployment({ environment: "preview", status: "ready" });
    await scene.report();
    expect(scene.statuses()[0]?.context).toBe("slipway/shop/preview");
  });

  test.each<[Partial<Deployment>, string]>([
    [{ status: "failed", error: error("Cannot build: exit 1.\nRead the log") }, "failure: Cannot build: exit 1"],
    [{ status: "failed", error: error("Cannot start app.js: no file.") }, "failure: Cannot start app.js: no file"],
    [{ status: "failed", error: error("x".repeat(141)) }, `failure: ${"x".repeat(139)}…`],
    [{ status: "failed", error: error(`${"x".repeat(138)}👍👍`) }, `failure: ${"x".repeat(138)}…`],
    [{ status: "failed", error: error("x".repeat(140)) }, `failure: ${"x".repeat(140)}`],
    [{ status: "failed", error: error("") }, "failure: Failed"],
    [{ status: "partial_failure", error: error("Not up: web. Keep it") }, "failure: Not up: web"],
    [{ status: "rejected" }, "failure: Rejected"],
    [{ status: "cancelled", error: error("Unimportant") }, "error: Cancelled"],
    [{ status: "superseded" }, "error: Superseded by a newer push"],
  ])("%j", async (overrides, shown) => {
    const scene = await commitReportScene();
    await scene.deployment(overrides);
    await scene.report();
    expect(scene.shown()).toEqual([shown]);
  });

  test("a rollback to a commit is reported to it again", async () => {
    const scene = await commitReportScene();
    const { id } = await scene.deployment({ status: "ready" });
    await scene.report();
    const source = { kind: "artifact", deploymentId: id, fallback: GIT } as const;
    const rollback = await scene.deployment({ trigger: "rollback", rollbackOf: id, source });
    await through(scene, rollback, [{ status: "building" }, { status: "ready" }]);
    expect(scene.shown()).toEqual(["success: Deployed", "pending: Building", "success: Deployed"]);
  });

  test("not without a link to the git host, nor from another repository", async () => {
    const other = await commitReportScene({ settings: { ...LINKED, gitRepo: "other" } });
    await other.deployment({ status: "ready" });
    expect(await other.report()).toBeNull();
    expect(other.shown()).toEqual([]);
    const unlinked = await commitReportScene();
    const { organizationId, id } = unlinked.project;
    await unlinked.deployment({ status: "ready" });
    const settings = { gitUrl: GIT.url };
    await unlinked.memory.projects.change(organizationId, id, { change: () => ({ settings }), at: new Date() });
    expect(await unlinked.report()).toBeNull();
    expect(unlinked.shown()).toEqual([]);
  });
});

describe("order and number of reports", () => {
  test("statuses that have passed meanwhile are left out", async () => {
    const scene = await commitReportScene();
    const deployment = await scene.deployment();
    for (const status of ["building", "deploying", "ready"] as const) await scene.change(deployment, { status });
    await scene.report();
    expect(scene.shown()).toEqual(["success: Deployed"]);
  });

  test("a status that changes while the host is told the former one is told after it", async () => {
    const scene = await commitReportScene();
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = intercepted(scene.memory.commitStatuses, "put", async (proceed) => {
      begun.resolve();
      await held.promise;
      return proceed();
    });
    const deployment = await scene.deployment({ status: "building" });
    const reporting = aReporter(scene.portsWith(slow))();
    await begun.promise;
    await scene.change(deployment, { status: "ready" });
    // Another process finds nothing that it may report.
    await scene.report();
    expect(scene.shown()).toEqual([]);
    held.resolve();
    expect(await reporting).toBeNull();
    expect(scene.shown()).toEqual(["pending: Building", "success: Deployed"]);
  });

  test("a slow report does not hold up that of another commit", async () => {
    const scene = await commitReportScene();
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = intercepted(scene.memory.commitStatuses, "put", async (proceed, given) => {
      if ((given[3] as CommitStatus).context !== "slipway/shop") return proceed();
      begun.resolve();
      await held.promise;
      return proceed();
    });
    const stopping = new AbortController();
    const watching = watchOutbox(reportCommits(scene.portsWith(slow)))(stopping.signal);
    await scene.deployment({ status: "ready" });
    await begun.promise;
    await scene.deployment({ status: "ready", environment: "preview" });
    await eventually(
      async () => scene.statuses(),
      ([first]) => first?.context === "slipway/shop/preview",
    );
    held.resolve();
    await eventually(
      async () => scene.statuses(),
      ({ length }) => length === 2,
    );
    stopping.abort();
    await watching;
  });

  test("several processes report each status once", async () => {
    const scene = await commitReportScene();
    const processes = Array.from({ length: 4 }, () => aReporter(scene.portsWith()));
    const deployments = [await scene.deployment(), await scene.deployment({ environment: "preview" })];
    await Promise.all(processes.map((report) => report()));
    for (const deployment of deployments) {
      for (const status of ["building", "ready"] as const) {
        await scene.change(deployment, { status });
        await Promise.all(processes.map((report) => report()));
      }
    }
    for (const context of ["slipway/shop", "slipway/shop/preview"]) {
      const own = scene.statuses().filter((status: CommitStatus) => status.context === context);
      expect(own.map(({ state }) => state)).toEqual(["pending", "pending", "success"]);
    }
  });

  test("a late report of a process that lost its lease is followed by the true status", async () => {
    const scene = await commitReportScene();
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sleeping = intercepted(scene.memory.commitStatuses, "put", async (proceed) => {
      begun.resolve();
      await held.promise;
      return proceed();
    });
    const deployment = await scene.deployment({ status: "building" });
    const late = aReporter(scene.portsWith(sleeping))();
    await begun.promise;
    await scene.change(deployment, { status: "ready" });
    scene.memory.clock.advance(MINUTE);
    await scene.report();
    expect(scene.shown()).toEqual(["success: Deployed"]);
    held.resolve();
    await late;
    expect(scene.shown().at(-1)).toBe("success: Deployed");
  });

  test("what a killed process had taken is reported by the next one", async () => {
    const scene = await commitReportScene();
    await scene.deployment({ status: "ready" });
    await scene.memory.commitReports.take(45_000);
    expect(await scene.report()).toBe(45_000);
    expect(scene.shown()).toEqual([]);
    scene.memory.clock.advance(45_000);
    await scene.report();
    expect(scene.shown()).toEqual(["success: Deployed"]);
  });

  test("what a stopping process had taken is due at once", async () => {
    const scene = await commitReportScene();
    const stopping = new AbortController();
    const hanging = intercepted(scene.memory.commitStatuses, "put", () => {
      stopping.abort();
      return Promise.reject(stopping.signal.reason);
    });
    await scene.deployment({ status: "ready" });
    expect(await aReporter(scene.portsWith(hanging))(stopping.signal)).toBe(0);
    await scene.report();
    expect(scene.shown()).toEqual(["success: Deployed"]);
    expect(scene.log.lines).toEqual([]);
  });
});
