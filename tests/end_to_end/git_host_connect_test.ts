import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GitHostScene } from "../support/apps/git_host_scene.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { dump } from "../support/database/query.ts";
import { git } from "../support/peers/git_server.ts";
import { folderText } from "../support/places_of_leaks.ts";

const MANY = 1_500;

describe("a server with the app of the git host", () => {
  let scene: GitHostScene;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "slipway-"));
    scene = await GitHostScene.start(GitHostScene.app);
    const branches = {
      main: { "package.json": '{"name":"shop"}', "src/index.ts": "export {};\n", "README.md": "# Shop\n" },
      "feature/größe-✓": { "package.json": '{"name":"cart"}' },
    };
    scene.host.addRepository({ owner: "acme", name: "shop", branches });
    scene.host.addRepository({ owner: "acme", name: "secret" });
    scene.host.addRepository({ owner: "eve", name: "hidden" });
    for (let number = 0; number < MANY - 2; number++)
      scene.host.addRepository({ owner: "acme", name: `many-${number}` });
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test("is connected by installing the app and authorizing, once, and only then", async () => {
    expect((await scene.get("/repos")).body.code).toBe("githost_not_connected");
    const { body } = await scene.post("/connect");
    expect(body).toMatchObject({ connected: false, flow: "redirect" });
    expect(body.url).toStartWith(`${scene.host.webUrl}/apps/slipway/installations/new?state=`);
    const state = new URL(body.url).searchParams.get("state")!;
    const installation = scene.host.install("acme");
    const back = { installation_id: `${installation}`, setup_action: "install" };
    const forged = await scene.sendBack({ ...back, state: "forged" });
    expect(forged.status).toBe(400);

    const first = await scene.sendBack({ ...back, state });
    expect(first.status).toBe(302);
    const authorize = new URL(first.headers.get("location")!);
    expect(authorize.origin + authorize.pathname).toBe(`${scene.host.webUrl}/login/oauth/authorize`);
    expect(authorize.searchParams.get("redirect_uri")).toBe(scene.host.redirectUrl);
    expect((await scene.state()).connected).toBe(false);

    const next = { code: scene.host.authorize("ada"), state: authorize.searchParams.get("state")! };
    const page = await scene.sendBack(next);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("The account acme of the git host is connected");
    for (const used of [
      { ...back, state },
      { ...next, code: scene.host.authorize("ada") },
    ])
      expect((await scene.sendBack(used)).status).toBe(400);

    expect((await scene.post("/connect")).body).toEqual({ connected: true });
    const status = (await scene.get("/status")).body;
    expect(status.state).toEqual({
      connected: true,
      primary: "app",
      sources: {
        app: { connected: true, installations: [{ id: installation, account: "acme", suspended: false }] },
        oauth: { connected: false, login: null },
        cli: { available: false, login: null },
      },
    });
    expect(status).toMatchObject({ accounts: [{ login: "acme", source: "app" }], cloudUnreachable: false });
    expect(status.installUrl).toContain("/installations/new?state=");
  });

  test("lists all of its repositories, also when their number has changed", async () => {
    const names = async () => {
      const { body } = await scene.get("/home");
      return new Set(body.repos.map(({ fullName }: { fullName: string }) => fullName));
    };
    expect((await names()).size).toBe(MANY);
    const [first, last] = [await scene.get("/repos?perPage=100"), await scene.get("/repos?perPage=100&page=15")];
    const listed = [...first.body.data, ...last.body.data].map(({ fullName }) => fullName);
    expect([first.body.total, last.body.total, new Set(listed).size]).toEqual([MANY, MANY, 200]);
    scene.host.addRepository({ owner: "acme", name: "one-more" });
    expect((await names()).has("acme/one-more")).toBe(true);
    const found = (await scene.get("/repos?search=ONE-MORE&owner=acme")).body;
    expect([found.total, found.data[0].fullName]).toEqual([1, "acme/one-more"]);
    expect((await scene.get("/orgs/eve/repos")).body.total).toBe(0);
  });

  test("shows a repository with its branches, folders and files, and none of others", async () => {
    const repository = (await scene.get("/repos/acme/shop?branches=true")).body.data;
    expect(repository).toMatchObject({ fullName: "acme/shop", private: true, defaultBranch: "main", source: "app" });
    const names = repository.branches.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["feature/größe-✓", "main"]);
    expect((await scene.get("/repos/acme/shop/branches?search=größe")).body.total).toBe(1);
    const { data } = (await scene.get("/repos/acme/shop/files")).body;
    expect(data.map(({ path, type }: Record<string, string>) => [path, type])).toEqual(
      expect.arrayContaining([
        ["package.json", "file"],
        ["src", "dir"],
      ]),
    );
    expect((await scene.get("/repos/acme/shop/file")).body.data.json).toEqual({ name: "shop" });
    const branch = encodeURIComponent("feature/größe-✓");
    expect((await scene.get(`/repos/acme/shop/file?branch=${branch}`)).body.data.json).toEqual({ name: "cart" });
    const text = await scene.get("/repos/acme/shop/file?file=src/index.ts");
    expect(text.body.data.content).toBe("export {};\n");
    for (const path of ["", "/branches", "/files", "/file", "/webhooks"])
      expect([path, (await scene.get(`/repos/eve/hidden${path}`)).status]).toEqual([path, 404]);
  });

  test("mints a token that clones one repository and does nothing else", async () => {
    const { token, cloneUrl, command } = (await scene.get("/repos/acme/shop/clone-token")).body;
    await Bun.$`${{ raw: command }} command`
      .cwd(folder)
      .env({ ...process.env, HOME: folder })
      .quiet();
    expect(await readFile(join(folder, "command/README.md"), "utf8")).toBe("# Shop\n");
    expectHidden(await readFile(join(folder, "command/.git/config"), "utf8"), { token });
    const withToken = (url: string) => url.replace("://", `://x-access-token:${token}@`);
    await git(folder, "clone", "--quiet", withToken(cloneUrl), "token");
    const checkout = join(folder, "token");
    await git(checkout, "commit", "--quiet", "--allow-empty", "--message", "x");
    await expect(git(checkout, "push", "--quiet", "origin", "HEAD:main")).rejects.toThrow("403");
    const other = withToken(cloneUrl.replace("/shop.git", "/secret.git"));
    await expect(git(folder, "clone", "--quiet", other, "other")).rejects.toThrow("not found");
    expect((await scene.get("/repos/acme/nothing/clone-token")).status).toBe(404);
    const refused = await scene.get("/repos/eve/hidden/clone-token");
    expect([refused.status, refused.body.code]).toEqual([409, "no_installation"]);
  });

  test("registers the webhook of a repository once, however often it is asked at once", async () => {
    const asked = await Promise.all(Array.from({ length: 5 }, () => scene.post("/repos/acme/shop/webhooks")));
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(asked.filter(({ body }) => !body.data.reused)).toHaveLength(1);
    const { data } = (await scene.get("/repos/acme/shop/webhooks")).body;
    expect(data).toMatchObject([{ url: `${scene.slipway.address}/api/githost/webhook`, active: true }]);
    const [hook] = scene.host.repositories.get("acme/shop")!.hooks.values();
    const secret = hook!.settings.secret.reveal();
    expect(secret.length).toBeGreaterThan(30);
    expectHidden(asked.map(({ text }) => text).join("\n"), { secret });
  });

  test("is connected again after an uninstallation that nobody reported", async () => {
    const [{ id }] = (await scene.state()).sources.app.installations;
    scene.host.uninstall(id);
    expect((await scene.get("/repos")).body.code).toBe("githost_login_expired");
    await scene.host.fail("down");
    expect((await scene.post("/connect")).body).toEqual({ connected: true });
    await scene.host.fail(null);
    expect((await scene.post("/connect")).body.flow).toBe("redirect");
    const other = await scene.installApp("acme");
    expect((await scene.state()).sources.app.installations).toEqual([{ id: other, account: "acme", suspended: false }]);
    expect((await scene.get("/repos?search=shop")).body.total).toBe(1);
  });

  test("has written no secret to its output, its data folder or in plain text to its database", async () => {
    const tokens = [...scene.host.installationTokens.keys(), ...scene.host.tokens.keys()];
    const secrets = { ...scene.secrets, ...Object.fromEntries(tokens.map((token) => [`token ${token}`, token])) };
    const { slipway, database } = scene;
    const places = [slipway.program.stdout, slipway.program.stderr, await folderText(slipway.folder)];
    expectHidden([...places, await dump(database.url)].join("\n"), secrets);
  });
});
