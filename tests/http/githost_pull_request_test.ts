import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import { member } from "../support/apps/app.ts";
import { APP, gitHostApp, installApp, OAUTH } from "../support/apps/git_host_app.ts";
import { pullRequestPayload, pushPayload, sha, signedHeaders } from "../support/inputs/webhook_payloads.ts";

const WEBHOOK = "/api/githost/webhook";
const SECRET = "webhook-secret-canary";
const FORK = "mallory/shop";

type Change = Partial<Parameters<typeof pullRequestPayload>[1]>;

/** An application whose project `shop` makes previews of the pull requests of acme/shop, which the app reports. */
async function previewing(settings: object = {}) {
  const app = await gitHostApp({ githostApp: APP, githostOAuth: OAUTH, githostWebhookSecret: new Secret(SECRET) });
  const installationId = await installApp(app, "acme");
  const ensured = { name: "Shop", gitOwner: "acme", gitRepo: "shop", ...settings };
  const { body } = await app.call("POST", "/api/projects/ensure", { token: app.owner, body: ensured });
  const projectId = body.project_id as string;
  const asOwner = (method: string, path: string, sent?: unknown) =>
    app.call(method, path, { token: app.owner, ...(sent !== undefined && { body: sent }) });
  const switchPreviews = (sent: unknown) => asOwner("POST", `/api/projects/${projectId}/previews`, sent);
  const deliver = (event: string, payload: unknown, secret = SECRET) => {
    const raw = JSON.stringify(payload);
    return app.call("POST", WEBHOOK, { raw, headers: signedHeaders(event, raw, secret) });
  };
  const payload = (action: string, change: Change = {}) => {
    const about = { action, number: 7, headSha: sha(), headRef: "feature/cart", installationId };
    return pullRequestPayload("acme/shop", { ...about, ...change });
  };
  return {
    ...app,
    asOwner,
    deliver,
    payload,
    projectId,
    switchPreviews,
    async report(action: string, change: Change = {}) {
      // Lists are sorted by time.
      app.world.clock.advance(1_000);
      return (await deliver("pull_request", payload(action, change))).body;
    },
    deployments: async () => (await asOwner("GET", `/api/deployments?projectId=${projectId}`)).body.data,
    deliveries: async () => (await asOwner("GET", `/api/projects/${projectId}/webhook-deliveries`)).body.data,
  };
}

/** The same, with previews on. */
async function on(settings: object = {}) {
  const app = await previewing(settings);
  const { status, text } = await app.switchPreviews({ enabled: true });
  if (status !== 200) throw new Error(text);
  return app;
}

function at(seconds: number): Date {
  return new Date(1_800_000_000_000 + seconds * 1_000);
}

function statuses(rows: readonly { readonly status: string }[]): readonly string[] {
  return rows.map(({ status }) => status);
}

describe("a pull request", () => {
  test("is ignored unless the project makes previews", async () => {
    const app = await previewing();
    expect(await app.report("opened")).toEqual({ success: true, deployed: 0, ignored: 1 });
    expect(await app.deployments()).toEqual([]);
    expect(await app.deliveries()).toMatchObject([
      { event: "pull_request", action: "opened", decision: "ignored", branch: "feature/cart", deploymentId: null },
    ]);
  });

  test("that is opened, reopened or changed becomes a preview of exactly its newest commit", async () => {
    const app = await on();
    for (const action of ["opened", "synchronize", "reopened"]) {
      const headSha = sha();
      expect(await app.report(action, { headSha })).toEqual({ success: true, deployed: 1, ignored: 0 });
      const [preview] = await app.deployments();
      expect(preview).toMatchObject({
        status: "queued",
        trigger: "pull_request",
        environment: "preview",
        pullRequest: { number: 7, fork: false },
        branch: "feature/cart",
        commitSha: headSha,
      });
      expect((await app.world.deployments.get(preview.id))!.source).toMatchObject({ kind: "git", commit: headSha });
      expect((await app.deliveries())[0]).toMatchObject({ decision: "deployed", deploymentId: preview.id });
    }
    expect(statuses(await app.deployments())).toEqual(["queued", "superseded", "superseded"]);
  });

  test("that is labelled, edited or assigned is ignored", async () => {
    const app = await on();
    for (const action of ["labeled", "edited", "assigned", "converted_to_draft"])
      expect(await app.report(action)).toEqual({ success: true, deployed: 0, ignored: 1 });
    expect(await app.deployments()).toEqual([]);
  });

  test("that is reported ten times at once, or by the app and by a webhook, becomes one preview", async () => {
    const app = await on();
    const raw = JSON.stringify(app.payload("opened"));
    const headers = signedHeaders("pull_request", raw, SECRET);
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.call("POST", WEBHOOK, { raw, headers })));
    for (const { body } of answers) expect(body).toEqual({ success: true, deployed: 1, ignored: 0 });
    await app.post("/repos/acme/shop/webhooks");
    const { organizationId } = (await app.world.deployments.ofProject(app.projectId))[0]!;
    const secret = (await app.world.repositoryHooks.secret(organizationId, { owner: "acme", repo: "shop" }))!.reveal();
    expect((await app.deliver("pull_request", JSON.parse(raw), secret)).body.deployed).toBe(0);
    expect(await app.deployments()).toHaveLength(1);
  });

  test("whose reports arrive in another order shows its latest state", async () => {
    const app = await on();
    const newest = sha();
    await app.report("synchronize", { updatedAt: at(2), headSha: newest });
    await app.report("opened", { updatedAt: at(1) });
    await app.report("opened", { updatedAt: at(2) });
    expect((await app.deliveries())[0]).toMatchObject({ decision: "superseded", deploymentId: null });
    expect(await app.deployments()).toMatchObject([{ status: "queued", commitSha: newest }]);
    await app.report("closed", { updatedAt: at(4) });
    await app.report("synchronize", { updatedAt: at(3) });
    await app.report("synchronize", { updatedAt: at(4) });
    expect(statuses(await app.deployments())).toEqual(["cancelled"]);
    expect(await app.report("reopened", { updatedAt: at(5) })).toMatchObject({ deployed: 1 });
  });

  test("that is closed ends what waits, and cannot be deployed again", async () => {
    const app = await on();
    await app.report("opened");
    const [preview] = await app.deployments();
    await app.report("closed");
    expect(statuses(await app.deployments())).toEqual(["cancelled"]);
    expect((await app.deliveries())[0]).toMatchObject({ decision: "applied", action: "closed" });
    const again = await app.asOwner("POST", `/api/deployments/${preview.id}/redeploy`);
    expect([again.status, again.body.code]).toEqual([400, "pull_request_ended"]);
  });

  test("that is closed after previews were turned off ends, too", async () => {
    const app = await on();
    await app.report("opened");
    await app.switchPreviews({ enabled: false });
    await app.report("closed");
    expect(statuses(await app.deployments())).toEqual(["cancelled"]);
  });

  test("neither supersedes pushes nor is superseded by them", async () => {
    const app = await on();
    await app.asOwner("POST", `/api/projects/${app.projectId}/auto-deploy`, { enabled: true });
    await app.report("opened", { headRef: "main" });
    app.world.clock.advance(1_000);
    const installationId = app.payload("opened")["installation"] as { readonly id: number };
    await app.deliver("push", pushPayload("acme/shop", { installationId: installationId.id }));
    await app.report("opened", { headRef: "main", number: 8 });
    expect(statuses(await app.deployments())).toEqual(["queued", "queued", "queued"]);
  });

  test.each([
    ["no number", { number: undefined }],
    ["a number that is none", { number: 1.5 }],
    ["a number beyond any", { number: 2 ** 40 }],
    ["no pull request", { pull_request: null }],
    ["a commit that is none", { pull_request: { head: { sha: "--upload-pack" }, updated_at: "2026-01-01T00:00:00Z" } }],
    ["a time that is none", { pull_request: { head: { sha: "a".repeat(40) }, updated_at: "yesterday" } }],
  ])("with %s is refused", async (_, change) => {
    const app = await on();
    const { status, body } = await app.deliver("pull_request", { ...app.payload("opened"), ...change });
    expect([status, body.code]).toEqual([400, "invalid_delivery"]);
    expect(await app.deployments()).toEqual([]);
  });

  test("waits for an approval where the project requires one, without holding up production", async () => {
    const app = await on({ requireApproval: true });
    const { token: developer } = await member(app, "developer");
    await app.report("opened");
    const [preview] = await app.deployments();
    expect(preview.waitingReason).toContain("POST /api/deployments/");
    expect((await app.world.deployments.get(preview.id))!).toMatchObject({ held: true, status: "queued" });
    const started = await app.call("POST", `/api/deployments/${preview.id}/build`, { token: developer });
    expect(started.status).toBe(202);
    expect((await app.world.deployments.get(preview.id))!).toMatchObject({ held: false, requireApproval: false });
  });
});

describe("a pull request from a fork", () => {
  test("waits for an admin, who starts or cancels it", async () => {
    const app = await on();
    const { token: developer } = await member(app, "developer");
    await app.report("opened", { headRepository: FORK });
    const [preview] = await app.deployments();
    expect(preview).toMatchObject({ status: "queued", pullRequest: { number: 7, fork: true }, branch: null });
    expect(preview.waitingReason).toContain("approval of an admin");
    const start = (token: string) => app.call("POST", `/api/deployments/${preview.id}/build`, { token });
    expect((await start(developer)).status).toBe(403);
    expect((await app.world.deployments.get(preview.id))!.held).toBe(true);
    expect((await start(app.owner)).status).toBe(202);
    expect((await app.world.deployments.get(preview.id))!.held).toBe(false);
  });

  test("asks again for each push, and replaces the one that waits", async () => {
    const app = await on();
    await app.report("opened", { headRepository: FORK });
    const [first] = await app.deployments();
    await app.call("POST", `/api/deployments/${first.id}/build`, { token: app.owner });
    await app.report("synchronize", { headRepository: FORK });
    const [second] = await app.deployments();
    expect((await app.world.deployments.get(second.id))!.held).toBe(true);
    expect(statuses(await app.deployments())).toEqual(["queued", "superseded"]);
  });

  test("whose repository was deleted counts as one from a fork", async () => {
    const app = await on();
    await app.report("opened", { headRepository: null });
    expect(await app.deployments()).toMatchObject([{ pullRequest: { fork: true } }]);
  });

  test("is deployed again by an admin only, and never promoted", async () => {
    const app = await on();
    const { token: developer } = await member(app, "developer");
    const headSha = sha();
    await app.report("opened", { headRepository: FORK, headSha });
    const [preview] = await app.deployments();
    const path = `/api/deployments/${preview.id}`;
    expect((await app.call("POST", `${path}/redeploy`, { token: developer })).status).toBe(403);
    app.world.clock.advance(1_000);
    expect((await app.call("POST", `${path}/redeploy`, { token: app.owner })).status).toBe(202);
    const [again] = await app.deployments();
    expect(again).toMatchObject({ pullRequest: { number: 7, fork: true }, trigger: "redeploy" });
    expect((await app.world.deployments.get(again.id))!.source).toMatchObject({ commit: headSha });
    await app.world.deployments.change(preview.id, (stored) => ({
      deployment: { ...stored, status: "ready", artifactAvailable: true },
      events: [],
    }));
    const promoted = await app.call("POST", `${path}/promote`, { token: app.owner });
    expect([promoted.status, promoted.body.code]).toEqual([400, "fork_not_promotable"]);
  });

  test("fills the queue with no more than the project's maximum", async () => {
    const app = await on();
    await app.switchPreviews({ enabled: true, max: 2 });
    await app.report("opened", { number: 1 });
    for (const number of [2, 3, 4, 5]) await app.report("opened", { number, headRepository: FORK });
    const rows: readonly { status: string; pullRequest: { number: number } }[] = await app.deployments();
    const waiting = rows.filter(({ status }) => status === "queued").map(({ pullRequest: { number } }) => number);
    expect(waiting).toEqual([5, 4, 1]);
  });
});

describe("POST /api/projects/:id/previews", () => {
  test("turns previews on and off, and keeps the numbers that are not given", async () => {
    const app = await previewing();
    expect((await app.asOwner("GET", `/api/projects/${app.projectId}`)).body.data.previews).toEqual({
      enabled: false,
      max: 5,
      ttlHours: 168,
    });
    const { body } = await app.switchPreviews({ enabled: true, max: 2, ttlHours: 12 });
    expect(body.project.previews).toEqual({ enabled: true, max: 2, ttlHours: 12 });
    expect((await app.switchPreviews({ enabled: false })).body.project.previews).toEqual({
      enabled: false,
      max: 2,
      ttlHours: 12,
    });
  });

  test.each([
    {},
    { enabled: 1 },
    { enabled: true, max: 0 },
    { enabled: true, max: 51 },
    { enabled: true, ttlHours: 0 },
  ])("refuses %p", async (sent) => {
    const app = await previewing();
    expect((await app.switchPreviews(sent)).status).toBe(400);
  });

  test("needs a linked repository and a git host that reports its pull requests", async () => {
    const app = await gitHostApp({});
    const create = (name: string, settings: object) =>
      app.call("POST", "/api/projects/ensure", { token: app.owner, body: { name, ...settings } });
    const enable = async (settings: object, name: string) => {
      const { body } = await create(name, settings);
      const path = `/api/projects/${body.project_id}/previews`;
      return app.call("POST", path, { token: app.owner, body: { enabled: true } });
    };
    const unlinked = await enable({}, "Unlinked");
    expect([unlinked.status, unlinked.body.details[0].path]).toEqual([400, "previews"]);
    expect((await enable({ gitOwner: "acme", gitRepo: "shop" }, "Linked")).body.code).toBe("auto_deploy_unavailable");
  });

  test("is undone by linking another repository", async () => {
    const app = await on();
    const link = { owner: "acme", repo: "secret" };
    const { body } = await app.asOwner("POST", `/api/projects/${app.projectId}/git/link`, link);
    expect(body.project.previews.enabled).toBe(false);
  });
});
