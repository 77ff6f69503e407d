import { describe, expect, test } from "bun:test";
import { reportPullRequests } from "../../../application/githost/report_pull_requests.ts";
import { OutboxWorker } from "../../../application/githost/outbox_worker.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { Failure } from "../../../domain/failure.ts";
import type { PullRequestComments } from "../../../ports/githost/pull_request_comments.ts";
import { NEVER } from "../../contracts/git_host_stage.ts";
import { commitReportScene, LINKED } from "../../support/apps/commit_report_scene.ts";

const NAME = { owner: "acme", repo: "shop" };
const MINUTE = 60_000;

/** A linked project with an open pull request, and a process that comments on it. */
async function commenting(comments?: (own: PullRequestComments) => PullRequestComments) {
  const scene = await commitReportScene();
  const { host, memory, project } = scene;
  await host.commitTo(NAME, "feature", { "index.html": "feature" });
  const { number, heads } = await host.openPullRequest(NAME, { branch: "feature" });
  const noted = { repository: NAME, number, change: "opened", changedAt: memory.clock.now() } as const;
  await memory.pullRequests.note(project, noted);
  const pullRequestComments = comments?.(memory.pullRequestComments) ?? memory.pullRequestComments;
  const worker = new OutboxWorker(reportPullRequests({ ...scene.portsWith(), pullRequestComments }));
  return {
    ...scene,
    number,
    commitSha: heads.at(-1)!,
    preview: (overrides: Partial<Deployment> = {}) =>
      scene.deployment({
        environment: "preview",
        trigger: "pull_request",
        pullRequest: { number, fork: false },
        commitSha: heads.at(-1)!,
        ...overrides,
      }),
    /** Reports everything that is due. */
    async comment(): Promise<void> {
      for (;;) {
        await worker.begin(NEVER);
        if (!worker.isBusy) return;
        await worker.settled();
      }
    },
    comments: () => host.commentsOf(NAME, number),
    text: () => host.commentsOf(NAME, number)[0]?.body ?? "",
  };
}

describe("the comment on a pull request", () => {
  test("is one, and follows the preview", async () => {
    const scene = await commenting();
    const preview = await scene.preview();
    await scene.comment();
    expect(scene.text()).toContain("| Status | Waiting for its turn |");
    const urls = ["http://shop-pr1.example.com"];
    await scene.change(preview, { status: "building" });
    await scene.comment();
    expect(scene.text()).toContain("| Status | Building |");
    expect(scene.text()).not.toContain("Address");
    await scene.change(preview, { status: "ready", artifactAvailable: true, urls });
    await scene.comment();
    expect(scene.text()).toContain("| Status | Ready |");
    expect(scene.text()).toContain(`| Address | ${urls[0]} |`);
    expect(scene.text()).toContain(`| Commit | \`${scene.commitSha.slice(0, 12)}\` |`);
    await scene.change(preview, { artifactAvailable: false });
    await scene.comment();
    expect(scene.text()).toContain("| Status | Ended |");
    expect(scene.text()).not.toContain(urls[0]!);
    expect(scene.comments()).toHaveLength(1);
    expect(scene.host.statusesOf(NAME, scene.commitSha).at(-1)).toMatchObject({
      state: "success",
      description: "The preview has ended",
      targetUrl: null,
      context: "slipway/shop/preview",
    });
  });

  test("shows what failed, and the preview that still serves", async () => {
    const scene = await commenting();
    const urls = ["http://shop-pr1.example.com"];
    await scene.preview({ status: "ready", artifactAvailable: true, urls });
    const message = "Cannot build `it`: see @everyone | here. And more";
    const error = { code: "build_failed", message, step: "build" } as const;
    await scene.preview({ status: "failed", error, commitSha: "cd".repeat(20) });
    await scene.comment();
    expect(scene.text()).toContain("| Status | Failed: `Cannot build  it : see @everyone   here` |");
    expect(scene.text()).toContain(`| Address | ${urls[0]} (still \`${scene.commitSha.slice(0, 12)}\`) |`);
  });

  test("says who has to approve", async () => {
    const scene = await commenting();
    await scene.preview({ held: true, pullRequest: { number: scene.number, fork: true } });
    await scene.comment();
    expect(scene.text()).toContain("Waiting for the approval of an admin, because it comes from a fork");
  });

  test("says that the preview ended when its deployment was deleted", async () => {
    const scene = await commenting();
    const { id, organizationId } = await scene.preview({ status: "ready", artifactAvailable: true });
    await scene.comment();
    await scene.memory.deployments.remove(organizationId, id);
    await scene.comment();
    expect(scene.text()).toContain("| Status | Ended |");
    expect(scene.comments()).toHaveLength(1);
  });

  test("is found again if the process was killed before it could note the comment", async () => {
    let kill = true;
    const scene = await commenting((own) => ({
      async put(...given) {
        const id = await own.put(...given);
        if (kill) throw new Failure("remote_failed", "githost_failed", "Cannot reach the git host");
        return id;
      },
    }));
    await scene.preview();
    await scene.comment();
    kill = false;
    scene.memory.clock.advance(MINUTE);
    await scene.comment();
    expect(scene.comments()).toHaveLength(1);
    expect(await scene.memory.pullRequests.nextDueMs()).toBeNull();
  });

  test("is not tried again for an hour where nobody may comment", async () => {
    let tries = 0;
    const refused = new Failure("invalid", "githost_refused", "Resource not accessible by integration");
    const scene = await commenting(() => ({
      put: () => {
        tries++;
        return Promise.reject(refused);
      },
    }));
    const preview = await scene.preview();
    await scene.comment();
    await scene.change(preview, { status: "building" });
    await scene.comment();
    expect(tries).toBe(1);
    scene.memory.clock.advance(61 * MINUTE);
    await scene.change(preview, { status: "deploying" });
    await scene.comment();
    expect(tries).toBe(2);
    expect(scene.logged("warn")).toEqual([]);
  });

  test("is not written for a project that was linked to another repository since", async () => {
    const scene = await commenting();
    await scene.preview({ status: "ready", artifactAvailable: true });
    await scene.memory.projects.change(scene.project.organizationId, scene.project.id, {
      at: scene.memory.clock.now(),
      change: () => ({ settings: { ...LINKED, gitRepo: "other" } }),
    });
    await scene.comment();
    expect(scene.comments()).toEqual([]);
  });
});
