import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Answer, member } from "../support/apps/app.ts";
import type { TestProject } from "../support/apps/deploying.ts";
import { GitHostScene } from "../support/apps/git_host_scene.ts";
import { query } from "../support/database/query.ts";

/** What is stored about the connection. */
const STORED = `select t::text from githost_installations t union all select t::text from oauth_accounts t
  union all select t::text from repository_hooks t where repo = 'site' order by 1`;

describe("while the git host fails", () => {
  let scene: GitHostScene;
  let project: TestProject;
  let developer: string;
  let stored: Awaited<ReturnType<typeof query>>;
  beforeAll(async () => {
    scene = await GitHostScene.start(GitHostScene.app);
    scene.host.addRepository({ owner: "acme", name: "site", branches: { main: { "index.html": "Afloat" } } });
    scene.host.addRepository({ owner: "acme", name: "other" });
    await scene.installApp("acme");
    await scene.connectAccount();
    expect((await scene.post("/repos/acme/site/webhooks")).status).toBe(200);
    project = await scene.link("acme/site");
    await project.deployed();
    developer = (await member(scene.slipway, "developer")).token;
    stored = await query(scene.database.url, STORED);
    expect(stored).toHaveLength(3);
  });
  afterEach(async () => {
    scene.host.intercept = undefined;
    await scene.host.fail(null);
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
  });

  /** One request of every kind that needs the git host, by name; without a client secret, to connect is one of them. */
  function requests(): Record<string, () => Promise<Answer>> {
    const named = { name: `Other ${crypto.randomUUID()}`, gitOwner: "acme", gitRepo: "other" };
    return {
      status: () => scene.get("/status"),
      home: () => scene.get("/home"),
      repositories: () => scene.get("/repos"),
      "repositories of one account": () => scene.get("/orgs/acme/repos"),
      repository: () => scene.get("/repos/acme/site"),
      branches: () => scene.get("/repos/acme/site/branches"),
      files: () => scene.get("/repos/acme/site/files"),
      file: () => scene.get("/repos/acme/site/file?file=index.html"),
      "clone token": () => scene.get("/repos/acme/site/clone-token"),
      webhooks: () => scene.get("/repos/acme/site/webhooks"),
      "webhook registration": () => scene.post("/repos/acme/other/webhooks"),
      connect: () => scene.post("/connect", { source: "oauth" }, developer),
      link: () => scene.slipway.call("POST", "/api/projects", { token: scene.slipway.owner, body: named }),
    };
  }

  /** Sends all requests at once, and returns their statuses and codes by name. */
  async function outcomes(): Promise<Record<string, string>> {
    const sent = Object.entries(requests()).map(async ([name, send]) => {
      const { status, body, headers } = await send();
      const wait =
        status === 503 ? `, ${Number(headers.get("retry-after")) > 0 ? "later" : "without Retry-After"}` : "";
      return [name, status < 400 ? "fine" : `${status} ${body.code}${wait}`] as const;
    });
    return Object.fromEntries(await Promise.all(sent));
  }

  function all(outcome: string): Record<string, string> {
    return Object.fromEntries(Object.keys(requests()).map((name) => [name, outcome]));
  }

  /** Expects that nothing has been dropped, and that everything works again. */
  async function isUnharmed(): Promise<void> {
    expect(await query(scene.database.url, STORED)).toEqual(stored);
    scene.host.intercept = undefined;
    await scene.host.fail(null);
    expect(await outcomes()).toEqual(all("fine"));
    expect(await scene.state()).toMatchObject({
      connected: true,
      sources: { app: { installations: [{ account: "acme", suspended: false }] }, oauth: { login: "ada" } },
    });
    expect((await scene.get("/repos")).body.total).toBe(2);
    expect(await project.page()).toBe("Afloat");
  }

  test("a browser that comes back is refused, nothing is stored, and it can start again", async () => {
    const { url } = (await scene.post("/connect", { source: "oauth" }, developer)).body;
    const state = new URL(url).searchParams.get("state");
    await scene.host.fail("down");
    const body = { state, code: scene.host.authorize("ada") };
    const call = { body, headers: { origin: "http://slipway.test" } };
    const refused = await scene.slipway.call("POST", "/api/githost/connect/redirect", call);
    expect([refused.status, refused.body.code]).toEqual([502, "githost_failed"]);
    await scene.host.fail(null);
    expect(await query(scene.database.url, STORED)).toEqual(stored);
    expect((await scene.post("/connect", { source: "oauth" }, developer)).body.flow).toBe("redirect");
    await scene.slipway.kill();
    await scene.slipway.start({ GITHOST_CLIENT_SECRET: "" });
  });

  test("because nothing listens, every request is a 502, a deployment fails, and all is well afterwards", async () => {
    await scene.host.fail("down");
    expect(await outcomes()).toEqual(all("502 githost_failed"));
    const failed = await project.settled(await project.deploy());
    expect(failed).toMatchObject({ status: "failed", error: { step: "fetch", code: "githost_failed" } });
    await isUnharmed();
    await project.deployed();
  });

  test.each(["html", "error", "truncated", "empty", "silent"] as const)(
    "by %s answers, every request is a 502, and all is well afterwards",
    async (fault) => {
      scene.host.intercept = () => fault;
      expect(await outcomes()).toEqual(all("502 githost_failed"));
      await isUnharmed();
    },
  );

  test("by a rate limit, every request is a 503 that says when to try again, and all is well afterwards", async () => {
    await scene.host.fail({ rateLimitedForSeconds: 300 });
    expect(await outcomes()).toEqual(all("503 githost_rate_limited, later"));
    await isUnharmed();
  });

  test("by a rate limit of a second, requests wait for its end", async () => {
    const until = Date.now() + 1_000;
    const headers = { "retry-after": "1" };
    scene.host.intercept = () =>
      Date.now() < until
        ? Response.json({ message: "You have exceeded a secondary rate limit." }, { status: 403, headers })
        : undefined;
    expect(await outcomes()).toEqual(all("fine"));
  });
});
