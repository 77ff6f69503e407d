import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { member } from "../support/apps/app.ts";
import type { TestProject } from "../support/apps/deploying.ts";
import { GitHostScene } from "../support/apps/git_host_scene.ts";
import { query } from "../support/database/query.ts";
import { eventually } from "../support/eventually.ts";
import { pullRequestPayload } from "../support/inputs/webhook_payloads.ts";

const SHOP = { owner: "acme", repo: "shop" };
const FULL_NAME = "acme/shop";
const FORK = { owner: "eve", repo: "shop" };

/** A program that shows its text and the variables that it gets. */
function program(text: string) {
  const shown = `JSON.stringify([${JSON.stringify(text)}, process.env.PRODUCTION, process.env.PREVIEW])`;
  return {
    "package.json": JSON.stringify({ name: "shop", scripts: { start: "node server.js" } }),
    "server.js": `require("http").createServer((_, answer) => answer.end(${shown})).listen(process.env.PORT)`,
  };
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly artifactAvailable: boolean;
  readonly pullRequest: { readonly number: number; readonly fork: boolean } | null;
  readonly urls: readonly string[];
}

describe("previews of pull requests", () => {
  let scene: GitHostScene;
  let installationId: number;
  let project: TestProject;
  beforeAll(async () => {
    scene = await GitHostScene.start(GitHostScene.app);
    const branches = { main: program("live"), feature: program("unused"), other: program("unused") };
    scene.host.addRepository({ owner: "acme", name: "shop", branches });
    scene.host.addRepository({ owner: "eve", name: "shop", private: false, branches: { main: program("evil") } });
    installationId = await scene.installApp("acme");
    project = await scene.link(FULL_NAME);
    const on = { enabled: true, max: 2, ttlHours: 24 };
    expect((await project.call("POST", `/api/projects/${project.id}/previews`, { body: on })).status).toBe(200);
    for (const [set, key] of [
      ["", "PRODUCTION"],
      ["?environment=preview", "PREVIEW"],
    ]) {
      const body = { upserts: [{ key, value: `canary-${key}`, secret: true }] };
      expect((await project.call("PATCH", `/api/projects/${project.id}/env${set}`, { body })).status).toBe(200);
    }
    await project.deployed();
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
  });

  const rows = async (number: number): Promise<readonly Row[]> => {
    const { body } = await project.call(
      "GET",
      `/api/deployments?projectId=${project.id}&environment=preview&perPage=100`,
    );
    return (body.data as Row[]).filter(({ pullRequest }) => pullRequest?.number === number);
  };

  const serving = async (number: number) =>
    (await rows(number)).filter(({ artifactAvailable, status }) => status === "ready" && artifactAvailable);

  /** Reports a pull request as the webhook of the app does. Returns the id of its preview, if there is one. */
  async function report(action: string, about: { number: number; headSha: string; headRepository?: string }) {
    const change = { headRef: "feature", installationId, updatedAt: new Date(), ...about };
    const answer = await scene.deliverEvent("pull_request", pullRequestPayload(FULL_NAME, { action, ...change }));
    expect([answer.status, await answer.json()]).toMatchObject([200, { success: true }]);
    return (await rows(about.number))[0]?.id;
  }

  const visit = (url: string) => scene.slipway.visit(new URL(url).hostname);

  const comment = (number: number, text: string) =>
    eventually(
      async () => scene.host.commentsOf(SHOP, number),
      ([first]) => first?.body.includes(text) ?? false,
    );

  const releases = () => readdir(join(scene.slipway.folder, "releases"));

  test("opened, pushed to three times, closed: one preview at a time with one address, then none, and one comment", async () => {
    const { number, heads } = await scene.host.openPullRequest(SHOP, { branch: "feature" });
    const addresses = new Set<string>();
    let headSha = heads.at(-1)!;
    for (let push = 0; push <= 3; push++) {
      if (push > 0) headSha = await scene.host.pushToPullRequest(SHOP, number, program(`push ${push}`));
      const id = (await report(push === 0 ? "opened" : "synchronize", { number, headSha }))!;
      await project.deployed(id);
      const { url } = await project.get(id);
      addresses.add(url);
      expect(await (await visit(url)).json()).toEqual([push === 0 ? "unused" : `push ${push}`, null, "canary-PREVIEW"]);
      await eventually(
        () => serving(number),
        (found) => found.length === 1 && found[0]!.id === id,
      );
      expect(await releases()).toContain(id);
      expect(await comment(number, headSha.slice(0, 12))).toHaveLength(1);
      const [shown] = await comment(number, "| Status | Ready |");
      expect(shown!.body).toContain(url);
    }
    expect(addresses.size).toBe(1);
    const status = await eventually(
      async () => scene.host.statusesOf(SHOP, headSha).at(-1),
      (last) => last?.state === "success",
    );
    expect(status!.targetUrl).toBe([...addresses][0]!);

    await report("closed", { number, headSha });
    const [address] = addresses;
    await eventually(
      async () => (await visit(address!)).status,
      (code) => code === 404,
    );
    expect(await serving(number)).toEqual([]);
    const made = (await rows(number)).map(({ id }) => id);
    await eventually(releases, (folders) => !folders.some((folder) => made.includes(folder)));
    expect(await comment(number, "| Status | Ended |")).toHaveLength(1);
    const ended = await eventually(
      async () => scene.host.statusesOf(SHOP, headSha).at(-1),
      (last) => last?.description === "The preview has ended",
    );
    expect(ended!.targetUrl).toBeNull();
    expect(await project.page()).toBe(JSON.stringify(["live", "canary-PRODUCTION", null]));
  });

  test("one from a fork waits for an admin, sees no variable, and is built from the commit of the fork", async () => {
    const { number, heads } = await scene.host.openPullRequest(SHOP, { branch: "main", fork: FORK });
    const headSha = heads.at(-1)!;
    const id = (await report("opened", { number, headSha, headRepository: "eve/shop" }))!;
    expect(await project.get(id)).toMatchObject({ status: "queued", pullRequest: { number, fork: true } });
    await comment(number, "Waiting for the approval of an admin");
    const { token } = await member(scene.slipway, "developer");
    expect((await scene.slipway.call("POST", `/api/deployments/${id}/build`, { token })).status).toBe(403);
    // What waits keeps nothing from being deployed.
    await project.deployed();
    expect(await project.get(id)).toMatchObject({ status: "queued", commitSha: headSha });
    expect((await project.call("POST", `/api/deployments/${id}/build`)).status).toBe(202);
    await project.deployed(id);
    const { url } = await project.get(id);
    expect(await (await visit(url)).json()).toEqual(["evil", null, null]);
    expect(await project.log(id)).not.toContain("canary");
    await report("closed", { number, headSha, headRepository: "eve/shop" });
    await eventually(
      async () => (await visit(url)).status,
      (code) => code === 404,
    );
  });

  test("whose end a killed server could not report are ended and commented on by the next one", async () => {
    const { number, heads } = await scene.host.openPullRequest(SHOP, { branch: "other" });
    const headSha = heads.at(-1)!;
    const id = (await report("opened", { number, headSha }))!;
    await project.deployed(id);
    await comment(number, "| Status | Ready |");
    const { url } = await project.get(id);
    const tried = Promise.withResolvers<void>();
    scene.host.intercept = (_request, { pathname }) => {
      if (!pathname.includes("/comments")) return undefined;
      tried.resolve();
      return Response.json({ message: "Server Error" }, { status: 502 });
    };
    await report("closed", { number, headSha });
    await tried.promise;
    await scene.slipway.kill();
    scene.host.intercept = undefined;
    // As if the lease of the killed server had expired.
    await query(scene.database.url, "update pull_requests set lease_until = now()");
    await scene.slipway.start();
    await eventually(
      async () => (await visit(url)).status,
      (code) => code === 404,
    );
    expect(await comment(number, "| Status | Ended |")).toHaveLength(1);
  });
});
