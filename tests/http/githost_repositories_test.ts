import { describe, expect, test } from "bun:test";
import { member } from "../support/apps/app.ts";
import { APP, connectAccount, gitHostApp, type GitHostApp, installApp, OAUTH } from "../support/apps/git_host_app.ts";

const BOTH = { githostApp: APP, githostOAuth: OAUTH };

async function connected(): Promise<GitHostApp> {
  const app = await gitHostApp(BOTH);
  await installApp(app, "acme");
  return app;
}

async function linked(app: GitHostApp, name: string, repo: string) {
  const body = { name, gitOwner: "acme", gitRepo: repo };
  return (await app.call("POST", "/api/projects/ensure", { token: app.owner, body })).body.project_id as string;
}

function namesIn(body: { readonly data: readonly { readonly fullName: string }[] }): string[] {
  return body.data.map(({ fullName }) => fullName).sort();
}

describe("GET /api/githost/repos", () => {
  test("without any source is 400 and says how to connect", async () => {
    const app = await gitHostApp(BOTH);
    for (const path of ["/repos", "/orgs/acme/repos", "/repos/acme/shop", "/repos/acme/shop/branches"]) {
      const refused = await app.get(path);
      expect([path, refused.status, refused.body.code]).toEqual([path, 400, "githost_not_connected"]);
    }
    expect((await app.get("/home")).body).toMatchObject({ state: { connected: false }, accounts: [], repos: [] });
  });

  test("lists every repository once, of the preferred source, paged and searchable", async () => {
    const app = await connected();
    await connectAccount(app, "ada");
    const all = await app.get("/repos");
    expect(all.body).toMatchObject({ total: 3, page: 1, perPage: 50 });
    const sources = Object.fromEntries(
      all.body.data.map((each: Record<string, string>) => [each["fullName"], each["source"]]),
    );
    expect(sources).toEqual({ "acme/shop": "app", "acme/secret": "app", "ada/notes": "oauth" });
    expect(namesIn((await app.get("/repos?search=SELLS")).body)).toEqual(["acme/shop"]);
    expect(namesIn((await app.get("/repos?owner=ADA")).body)).toEqual(["ada/notes"]);
    expect(namesIn((await app.get("/orgs/acme/repos")).body)).toEqual(["acme/secret", "acme/shop"]);
    const second = await app.get("/repos?page=2&perPage=2");
    expect([second.body.data.length, second.body.total]).toEqual([1, 3]);
    expect((await app.get("/repos?owner=--upload-pack")).status).toBe(400);
  });

  test("is never empty because of a rate limit or an outage, and nothing stored is dropped", async () => {
    const app = await connected();
    app.host.fail({ rateLimitedForSeconds: 300 });
    const limited = await app.get("/repos");
    expect([limited.status, limited.body.code]).toEqual([503, "githost_rate_limited"]);
    expect(limited.headers.get("retry-after")).toBe("300");
    app.host.fail("down");
    expect((await app.get("/repos")).status).toBe(502);
    expect((await app.get("/status")).body.state.connected).toBe(true);
    app.host.fail(null);
    expect((await app.get("/repos")).body.total).toBe(2);
  });
});

describe("the role filter", () => {
  test("shows viewers and developers the repositories of projects that they can read, on every route", async () => {
    const app = await connected();
    await linked(app, "Shop", "shop");
    for (const role of ["viewer", "developer"]) {
      const { token } = await member(app, role);
      expect(namesIn((await app.get("/repos", token)).body)).toEqual(["acme/shop"]);
      const home = (await app.get("/home", token)).body;
      expect(home.repos.map(({ fullName }: { fullName: string }) => fullName)).toEqual(["acme/shop"]);
      expect(home.accounts.map(({ login }: { login: string }) => login)).toEqual(["acme"]);
      const hidden = ["", "/branches", "/files", "/file", "/clone-token", "/webhooks"];
      for (const path of hidden) {
        const refused = await app.get(`/repos/acme/secret${path}`, token);
        expect([path, refused.status, refused.body.code]).toEqual([path, 404, "repository_not_found"]);
      }
      expect((await app.get("/repos/ACME/Shop", token)).body.data.fullName).toBe("acme/shop");
    }
    const missing = await app.get("/repos/acme/nothing");
    const secret = await app.get("/repos/acme/secret", (await member(app, "viewer")).token);
    expect(secret.body.error.replace("secret", "nothing")).toBe(missing.body.error);
  });

  test("hides what was linked while nothing was connected, and what a developer may not link", async () => {
    const app = await gitHostApp(BOTH);
    const developer = await member(app, "developer");
    const link = (name: string, repo: string) => {
      const body = { name, gitOwner: "acme", gitRepo: repo };
      return app.call("POST", "/api/projects", { token: developer.token, body });
    };
    expect((await link("Early", "secret")).status).toBe(201);
    await installApp(app, "acme");
    expect(namesIn((await app.get("/repos", developer.token)).body)).toEqual([]);
    expect((await app.get("/repos/acme/secret/clone-token", developer.token)).status).toBe(404);
    expect((await link("Late", "secret")).body.code).toBe("repository_not_found");
    app.host.addRepository({ owner: "acme", name: "open", private: false });
    expect((await link("Open", "open")).status).toBe(201);
    expect(namesIn((await app.get("/repos", developer.token)).body)).toEqual([]);
  });

  test("cannot be evaded by two changes of a link at once", async () => {
    const app = await connected();
    app.host.addRepository({ owner: "acme", name: "open", private: false });
    app.host.addAccount("evil");
    for (const name of ["open", "secret"]) app.host.addRepository({ owner: "evil", name, private: false });
    const { token } = await member(app, "developer");
    const body = { name: "Race", gitOwner: "evil", gitRepo: "open" };
    const { id } = (await app.call("POST", "/api/projects", { token, body })).body.data;
    const change = (part: object) => app.call("PATCH", `/api/projects/${id}`, { token, body: part });
    await Promise.all([change({ gitOwner: "acme" }), change({ gitRepo: "secret" })]);
    const { data } = (await app.call("GET", `/api/projects/${id}`, { token })).body;
    expect(["acme/open", "evil/secret"]).toContain(`${data.gitOwner}/${data.gitRepo}`);
    expect((await app.get("/repos/acme/secret", token)).status).toBe(404);
  });

  test("hides accounts and installations in the state, too", async () => {
    const app = await connected();
    app.host.addAccount("beta", "Organization");
    await installApp(app, "ada");
    const { state, accounts } = (await app.get("/status", (await member(app, "viewer")).token)).body;
    expect([accounts, state.sources.app.installations]).toEqual([[], []]);
    expect(state.connected).toBe(true);
  });

  test("shows owners and admins all of the connection", async () => {
    const app = await connected();
    const admin = await member(app, "admin");
    for (const token of [app.owner, admin.token]) expect((await app.get("/repos", token)).body.total).toBe(2);
  });

  test("shows members what their grants name, by owner or by repository", async () => {
    const app = await connected();
    const one = [{ resource: "githost", id: "acme/secret", action: "read" }];
    const restricted = await member(app, "restricted", { grants: one });
    expect(namesIn((await app.get("/repos", restricted.token)).body)).toEqual(["acme/secret"]);
    expect((await app.get("/repos/acme/shop", restricted.token)).status).toBe(404);
    expect((await app.get("/status", restricted.token)).body.accounts).toHaveLength(1);
    const viewer = await member(app, "viewer", { grants: [{ resource: "githost", id: "ACME", action: "read" }] });
    expect((await app.get("/repos", viewer.token)).body.total).toBe(2);
  });

  test("keeps a limited token inside its limits", async () => {
    const app = await connected();
    const grants = [{ resource: "githost", id: "acme/shop", action: "read" }];
    const minted = await app.call("POST", "/api/tokens", { token: app.owner, body: { name: "one", grants } });
    const { token } = minted.body.data;
    expect(namesIn((await app.get("/repos", token)).body)).toEqual(["acme/shop"]);
    expect((await app.get("/repos/acme/secret", token)).status).toBe(404);
  });
});

describe("a repository", () => {
  test("is shown with its branches, files and content", async () => {
    const app = await connected();
    const plain = (await app.get("/repos/acme/shop")).body.data;
    expect(plain).toMatchObject({ fullName: "acme/shop", owner: "acme", private: true, defaultBranch: "main" });
    expect("branches" in plain).toBe(false);
    expect((await app.get("/repos/acme/shop?branches=true")).body.data.branches).toHaveLength(2);
    const branches = (await app.get("/repos/acme/shop/branches?search=cart")).body;
    expect([branches.total, branches.data[0].name]).toEqual([1, "feature/cart"]);
    const files = (await app.get("/repos/acme/shop/files?path=/src/")).body.data;
    expect(files).toMatchObject([{ name: "index.ts", path: "src/index.ts", type: "file" }]);
    expect((await app.get("/repos/acme/shop/file")).body.data).toMatchObject({
      path: "package.json",
      json: { name: "shop" },
    });
    const text = (await app.get("/repos/acme/shop/file?file=README.md&branch=main")).body.data;
    expect(text).toMatchObject({ content: "# Shop", size: 6 });
    expect((await app.get("/repos/acme/shop/file?branch=feature/cart")).body.data.json).toEqual({ name: "cart" });
  });

  test.each([
    ["/file?file=broken.json", 400, "file_not_json"],
    ["/file?file=deep.json", 400, "file_not_json"],
    ["/file?file=missing.txt", 404, "file_not_found"],
    ["/file?branch=missing", 404, "branch_not_found"],
    ["/file?branch=--upload-pack%3Dx", 400, "invalid_request"],
    ["/file?branch=a%0Ab", 400, "invalid_request"],
    ["/file?file=../../etc/passwd", 400, "invalid_request"],
    ["/file?file=", 400, "invalid_request"],
    ["/files?path=a/../../b", 400, "invalid_request"],
    ["/files?path=%00", 400, "invalid_request"],
  ])("%s is %d", async (path, status, code) => {
    const app = await connected();
    const refused = await app.get(`/repos/acme/shop${path}`);
    expect([refused.status, refused.body.code]).toEqual([status, code]);
  });

  test.each(["--upload-pack=x/shop", "acme/$(id)", "ext::sh/x", "acme/a b"])("%s is 404", async (name) => {
    const app = await connected();
    const path = name.split("/").map(encodeURIComponent).join("/");
    expect((await app.get(`/repos/${path}`)).body.code).toMatch(/repository_not_found|route_not_found/);
  });

  test("is created for an organization and deleted again", async () => {
    const app = await connected();
    const made = await app.post("/repos", { name: "new-one", private: true, owner: "acme" });
    expect([made.status, made.body.data.fullName, made.body.data.source]).toEqual([201, "acme/new-one", "app"]);
    expect((await app.post("/repos", { name: "mine" })).body.code).toBe("invalid_request");
    await connectAccount(app, "ada");
    expect((await app.post("/repos", { name: "mine" })).body.data).toMatchObject({
      fullName: "ada/mine",
      source: "oauth",
    });
    const removed = await app.call("DELETE", "/api/githost/repos/acme/new-one", { token: app.owner });
    expect(removed.body).toEqual({ success: true });
    expect((await app.get("/repos/acme/new-one")).status).toBe(404);
    expect((await app.post("/repos", { name: "-x", owner: "acme" })).status).toBe(400);
  });

  test("gets a clone token only where the app is installed, before anything about the repository is said", async () => {
    const app = await connected();
    const minted = (await app.get("/repos/acme/shop/clone-token")).body;
    expect(minted.cloneUrl).toBe("https://git.example.com/acme/shop.git");
    expect(minted.command).toStartWith("git -c http.extraHeader=");
    expect(app.host.cloneTokens.get(minted.token)).toEqual({ owner: "acme", repo: "shop" });
    await connectAccount(app, "ada");
    for (const repo of ["notes", "missing"]) {
      const refused = await app.get(`/repos/ada/${repo}/clone-token`);
      expect([refused.status, refused.body.code]).toEqual([409, "no_installation"]);
    }
    expect((await app.get("/repos/acme/missing/clone-token")).status).toBe(404);
  });
});

describe("webhooks", () => {
  const HOOKS = "/repos/acme/shop/webhooks";

  test("are registered once, with a secret that is never shown", async () => {
    const app = await connected();
    const first = (await app.post(HOOKS)).body.data;
    expect(first).toMatchObject({ url: "http://slipway.test/api/githost/webhook", active: true, reused: false });
    expect(first.events).toContain("push");
    const again = await Promise.all(Array.from({ length: 5 }, () => app.post(HOOKS)));
    for (const { body } of again) expect(body.data).toEqual({ ...first, reused: true });
    const listed = await app.get(HOOKS);
    expect(listed.body.data).toHaveLength(1);
    const organizationId = (await app.call("GET", "/api/auth/me", { token: app.owner })).body.data.organization.id;
    const secret = await app.world.repositoryHooks.secret(organizationId, { owner: "acme", repo: "shop" });
    expect(secret!.reveal().length).toBeGreaterThan(40);
    expect(listed.text + again.map(({ text }) => text).join()).not.toContain(secret!.reveal());
  });

  test("that somebody switched off or changed are set right again", async () => {
    const app = await connected();
    const { hookId } = (await app.post(HOOKS)).body.data;
    const hooks = app.host.repositories.get("acme/shop")!.hooks;
    hooks.set(hookId, { ...hooks.get(hookId)!, active: false });
    expect((await app.post(HOOKS)).body.data).toMatchObject({ hookId, active: true, reused: true });
    hooks.delete(hookId);
    expect((await app.post(HOOKS)).body.data.reused).toBe(false);
  });

  test("are removed by an admin", async () => {
    const app = await connected();
    await linked(app, "Shop", "shop");
    const { hookId } = (await app.post(HOOKS)).body.data;
    const remove = (token: string, body: unknown) => app.call("DELETE", `/api/githost${HOOKS}`, { token, body });
    expect((await remove((await member(app, "developer")).token, { hookId })).status).toBe(403);
    expect((await remove(app.owner, {})).status).toBe(400);
    expect((await remove(app.owner, { hookId })).body).toEqual({ success: true });
    expect((await remove(app.owner, { hookId })).status).toBe(404);
  });
});
