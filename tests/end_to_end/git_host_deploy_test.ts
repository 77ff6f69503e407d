import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { TestProject } from "../support/apps/deploying.ts";
import { GitHostScene } from "../support/apps/git_host_scene.ts";
import { dump } from "../support/database/query.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { folderText, watchProcesses } from "../support/places_of_leaks.ts";

const NO_APP = { GITHOST_APP_ID: "", GITHOST_APP_SLUG: "", GITHOST_APP_PRIVATE_KEY: "" };
const NO_OAUTH = { GITHOST_CLIENT_ID: "", GITHOST_CLIENT_SECRET: "" };
const SUBMODULE = '[submodule "part"]\n\tpath = part\n\turl = ../part.git\n';

describe("a private repository with a private submodule", () => {
  let scene: GitHostScene;
  let project: TestProject;
  beforeAll(async () => {
    scene = await GitHostScene.start(GitHostScene.app);
    const { host } = scene;
    host.addRepository({ owner: "acme", name: "part", branches: { main: { "part.txt": "a private part" } } });
    const { sha } = (await host.makeReal("acme", "part")).branches.get("main")!;
    const main = { "index.html": "<h1>Private</h1>", ".gitmodules": SUBMODULE, part: { submodule: sha } };
    host.addRepository({ owner: "acme", name: "site", branches: { main } });
    host.addRepository({ owner: "eve", name: "hidden" });
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
  });

  /** Every token that the git host has issued, by name, and the secrets of the settings. */
  function secrets(): Record<string, string> {
    const tokens = [...scene.host.installationTokens.keys(), ...scene.host.tokens.keys()];
    return { ...scene.secrets, ...Object.fromEntries(tokens.map((token) => [`token ${token}`, token])) };
  }

  /** Deploys and looks for tokens everywhere, also while git clones. */
  async function deploysInSecret(): Promise<void> {
    const { host, slipway } = scene;
    const held = Promise.withResolvers<undefined>();
    const reached = Promise.withResolvers<void>();
    host.intercept = ({ url }) => {
      if (!url.endsWith("/acme/part.git/git-upload-pack")) return undefined;
      reached.resolve();
      return held.promise;
    };
    const places: string[] = [];
    using watched = watchProcesses(/\0main\.(ts|js)|slipway-server/);
    const id = await project.deploy();
    try {
      await Promise.race([reached.promise, project.settled(id)]);
      places.push(await folderText(slipway.folder));
    } finally {
      held.resolve(undefined);
      host.intercept = undefined;
    }
    await project.deployed(id);
    expect(places[0]).toContain('[remote "origin"]');
    expect(await project.page()).toBe("<h1>Private</h1>");
    expect(await project.page("/part/part.txt")).toBe("a private part");
    const events = await Array.fromAsync(project.events(id));
    const answers = [await project.log(id), JSON.stringify(events), JSON.stringify(await project.get(id))];
    for (const path of [`/api/projects/${project.id}`, `/api/deployments/${id}/info`, "/api/githost/status"])
      answers.push((await project.call("GET", path)).text);
    const { stdout, stderr } = slipway.program;
    places.push(...answers, stdout, stderr, await folderText(slipway.folder), await dump(scene.database.url));
    expectHidden([...places, ...watched.commands].join("\n"), secrets());
  }

  test("is cloned as the public sees it if it was linked before the connection, and says to link it again", async () => {
    project = await scene.link("acme/site");
    const path = `/api/projects/${project.id}/git/link`;
    await scene.installApp("acme");
    const failed = await project.settled(await project.deploy());
    expect(failed).toMatchObject({ status: "failed", error: { step: "fetch", code: "git_auth_failed" } });
    expect(failed.error.message).toContain(`link the repository again (POST ${path})`);
    const gits = scene.host.requests.filter(({ line }) => line.includes("/acme/site.git/"));
    expect(gits.map(({ authorization }) => authorization)).toEqual(gits.map(() => null));
    const body = { owner: "acme", repo: "site" };
    expect((await project.call("POST", path, { body })).status).toBe(200);
  });

  test("is built and served through the app, with a token for each repository alone", async () => {
    const former = new Set(scene.host.installationTokens.keys());
    await deploysInSecret();
    const issued = [...scene.host.installationTokens].filter(([token]) => !former.has(token));
    const limited = issued.map(([, { repositoryIds, permissions }]) => [
      repositoryIds?.length,
      permissions["contents"],
    ]);
    expect(limited).toEqual([
      [1, "read"],
      [1, "read"],
    ]);
    const read = scene.host.requests.filter(({ line }) => line.includes(".git/") && line.includes("upload-pack"));
    const used = new Set(read.map(({ authorization }) => authorization).filter((each) => each !== null));
    expect(used.size).toBe(2);
  });

  test("that the caller cannot see cannot be linked", async () => {
    const body = { name: "Hidden", gitOwner: "eve", gitRepo: "hidden" };
    const call = { token: scene.slipway.owner, body };
    for (const path of ["/api/projects", "/api/projects/ensure"]) {
      const refused = await scene.slipway.call("POST", path, call);
      expect([refused.status, refused.body.code]).toEqual([404, "repository_not_found"]);
    }
    const { name: _, ...link } = body;
    expect((await project.call("PATCH", `/api/projects/${project.id}`, { body: link })).status).toBe(404);
    const { data } = (await project.call("GET", `/api/projects/${project.id}`)).body;
    expect([data.gitOwner, data.gitRepo]).toEqual(["acme", "site"]);
  });

  test("is built and served through an OAuth account alone", async () => {
    await scene.post("/disconnect");
    await scene.slipway.kill();
    await scene.slipway.start(NO_APP);
    const unconnected = await project.settled(await project.deploy());
    expect(unconnected.error).toMatchObject({ step: "fetch", code: "git_auth_failed" });
    expect(await project.page()).toBe("<h1>Private</h1>");
    await scene.connectAccount();
    await deploysInSecret();
  });

  test("is built and served with GITHOST_TOKEN alone", async () => {
    await scene.post("/disconnect");
    await scene.slipway.kill();
    await scene.slipway.start({ ...NO_APP, ...NO_OAUTH, GITHOST_TOKEN: scene.host.issueToken("ada").reveal() });
    expect((await scene.post("/connect", { source: "cli" })).body).toEqual({ connected: true });
    await deploysInSecret();
  });
});
