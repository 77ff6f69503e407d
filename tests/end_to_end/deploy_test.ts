import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type SeenEvent, SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { GitServer } from "../support/peers/git_server.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";
import { file } from "../support/inputs/tar_archive.ts";

/** A server that responds with a text. */
function server(text: string): string {
  return `Bun.serve({ port: process.env.PORT, fetch: () => new Response(${JSON.stringify(text)}) })`;
}

describe("deployments", () => {
  let slipway: SlipwayProcess;
  let git: GitServer;
  beforeAll(async () => {
    git = await GitServer.start();
    slipway = await SlipwayProcess.start({
      BUILD_CONCURRENCY: "8",
      GITHOST_WEB_URL: `http://127.0.0.1:${git.port}`,
    });
  });
  afterAll(async () => {
    await slipway?.[Symbol.asyncDispose]();
    await git?.[Symbol.asyncDispose]();
  });

  async function status(hostname: string): Promise<number> {
    const answer = await slipway.visit(hostname);
    await answer.arrayBuffer();
    return answer.status;
  }

  for (const [example, key, greeting] of [
    ["bun-server", "COLOR", "Hello from Slipway, "],
    ["node-server", "WHOM", "Node greets "],
  ] as const) {
    test.concurrent(`examples/${example} is deployed, changed, rolled back, restarted, pinned and deleted`, async () => {
      await using source = await SourceFolder.example(example);
      const project = await TestProject.create(slipway, {
        name: example,
        localPath: source.path,
        healthPath: "/health",
      });
      const setVariable = (value: string) =>
        project.call("PATCH", `/api/projects/${project.id}/env`, { body: { upserts: [{ key, value }] } });
      await setVariable("blue");
      const first = await project.deploy();
      const events: SeenEvent[] = [];
      for await (const event of project.events(first)) events.push(event);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(events.at(-1)).toMatchObject({ type: "end", status: "ready", error: null });
      const steps = events.filter(({ type }) => type === "progress").map((event) => event["step"]);
      expect(steps).toEqual(["fetch", "detect", "build", "start", "health", "switch", "retire", "clean"]);
      expect(await project.get(first)).toMatchObject({
        status: "ready",
        active: true,
        version: 1,
        artifactAvailable: true,
      });
      expect((await project.get(first)).url).toBe(`http://${project.hostname}:${slipway.edgePort}`);
      expect(await project.page()).toBe(`${greeting}blue\n`);

      expect(await project.log(first, "runtime")).toContain("listening on");
      const info = (await project.call("GET", `/api/deployments/${first}/info`)).body.data;
      expect(info).toMatchObject({
        runtime: "process",
        services: [{ name: "app", status: "running", health: "healthy", restarts: 0 }],
      });
      const usage = (await project.call("GET", `/api/deployments/${first}/usage`)).body.data;
      expect(usage.memoryBytes).toBeGreaterThan(1_000_000);

      await source.write({ VERSION: "2" });
      await setVariable("green");
      const second = await project.deployed(await project.again(first, "redeploy", {}));
      expect(await project.page()).toBe(`${greeting}green\n`);
      expect(await project.get(first)).toMatchObject({ status: "ready", active: false });
      const copies = new Glob(`${second}/*/VERSION`).scan(join(slipway.folder, "releases"));
      expect(await Array.fromAsync(copies)).toHaveLength(1);
      await eventually(
        async () => (await project.call("GET", `/api/deployments/${first}/info`)).body.data.services,
        (services) => services.length === 0,
      );
      expect((await project.call("GET", `/api/deployments/${first}/info`)).body.data.services).toEqual([]);

      const third = await project.deployed(await project.again(first, "rollback"));
      expect(await project.page()).toBe(`${greeting}blue\n`);
      expect(await project.get(third)).toMatchObject({ trigger: "rollback", rollbackOf: first, active: true });
      expect(existsSync(join(slipway.folder, "releases", third))).toBe(false);

      const restarted = await project.call("POST", `/api/deployments/${third}/restart`);
      expect(restarted.body.message).toStartWith("Restarted 1 service with the variables of its deployment.");
      await eventually(
        () => project.page(),
        (page) => page === `${greeting}blue\n`,
      );
      expect(await project.page()).toBe(`${greeting}blue\n`);

      const pinned = await project.call("POST", `/api/deployments/${second}/pin`, { body: {} });
      expect(pinned.body.data).toMatchObject({ pinned: true, artifactAvailable: true });

      expect((await project.call("DELETE", `/api/deployments/${third}`)).status).toBe(200);
      expect((await project.call("GET", `/api/deployments/${third}`)).status).toBe(404);
      expect(await status(project.hostname)).toBe(404);
    });
  }

  test.concurrent("examples/static-site is served by the edge, changed and rolled back", async () => {
    await using source = await SourceFolder.example("static-site");
    const project = await TestProject.create(slipway, { name: "static-site", localPath: source.path });
    const first = await project.deployed();
    expect(await project.page()).toContain("It floats");
    await source.write({ "index.html": "<h1>It sails</h1>" });
    await project.deployed(await project.again(first, "redeploy", {}));
    expect(await project.page()).toContain("It sails");
    await project.deployed(await project.again(first, "rollback"));
    expect(await project.page()).toContain("It floats");
  });

  test.concurrent("an uploaded folder is deployed once, and can be rebuilt and rolled back to", async () => {
    const project = await TestProject.create(slipway, { name: "uploaded" });
    const uploaded = await project.upload([file("index.html", "one")]);
    const first = await project.deployed(uploaded.id);
    expect(await project.page()).toBe("one");
    expect(await project.get(first)).toMatchObject({ trigger: "upload" });
    const body = { projectId: project.id, uploadSessionId: uploaded.sessionId };
    const twice = await project.call("POST", "/api/deployments/build/access", { body });
    expect(twice).toMatchObject({ status: 400, body: { code: "upload_not_ready" } });
    await project.deployed((await project.upload([file("index.html", "two")])).id);
    expect(await project.page()).toBe("two");
    await project.deployed(await project.again(first, "redeploy", {}));
    expect(await project.page()).toBe("one");
  });

  test.concurrent("a repository is deployed at its branch, again at the latest commit, or exactly at its own", async () => {
    const repository = await git.repository("acme/site");
    const one = await repository.commit({ "index.html": "one" }, { message: "The first" });
    const project = await TestProject.create(slipway, { name: "repository", gitOwner: "acme", gitRepo: "site" });
    const first = await project.deployed();
    expect(await project.page()).toBe("one");
    expect(await project.get(first)).toMatchObject({ commitSha: one, commitMessage: "The first" });
    const two = await repository.commit({ "index.html": "two" });
    const latest = await project.deployed(await project.again(first, "redeploy", {}));
    expect(await project.page()).toBe("two");
    expect((await project.get(latest)).commitSha).toBe(two);
    const exact = await project.deployed(await project.again(first, "redeploy", { useExistingCommit: true }));
    expect(await project.page()).toBe("one");
    expect((await project.get(exact)).commitSha).toBe(one);
  });
});

test("a deployment that cannot start has a reason, and the release before it keeps serving", async () => {
  // Longer than the uptime of the failing programs.
  await using slipway = await SlipwayProcess.start({ PROBATION_SECONDS: "3" });
  await using source = await SourceFolder.of({ "server.js": server("one") });
  const project = await TestProject.create(slipway, {
    name: "failing",
    localPath: source.path,
    startCommand: "bun server.js",
  });
  await project.deployed();
  for (const [code, script] of [
    ["crash_loop", "console.error('no luck'); process.exit(3)"],
    ["health_failed", `${server("late")}; setTimeout(() => process.exit(1), 2_000)`],
  ] as const) {
    await source.write({ "server.js": script });
    const visits: string[] = [];
    const seen = new AbortController();
    const visiting = (async () => {
      for (; !seen.signal.aborted; await Bun.sleep(20)) visits.push(await project.page());
    })();
    const id = await project.deploy();
    expect(await project.settled(id)).toMatchObject({ status: "failed", error: { code } });
    seen.abort();
    await visiting;
    expect(new Set(visits)).toEqual(new Set(["one"]));
  }
});
