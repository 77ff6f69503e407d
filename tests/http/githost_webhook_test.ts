import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import { member } from "../support/apps/app.ts";
import { APP, connectAccount, gitHostApp, type GitHostApp, installApp, OAUTH } from "../support/apps/git_host_app.ts";
import { pushPayload, sha, signedHeaders, webhookExample } from "../support/inputs/webhook_payloads.ts";

const WEBHOOK = "/api/githost/webhook";
const SECRET = "webhook-secret-canary";

/** An application whose project `shop` deploys on every push to acme/shop, which the app reports. */
async function autoDeploying() {
  const app = await gitHostApp({ githostApp: APP, githostOAuth: OAUTH, githostWebhookSecret: new Secret(SECRET) });
  const installationId = await installApp(app, "acme");
  const ensured = { name: "Shop", gitOwner: "acme", gitRepo: "shop" };
  const { body } = await app.call("POST", "/api/projects/ensure", { token: app.owner, body: ensured });
  const projectId = body.project_id as string;
  const on = await app.call("POST", `/api/projects/${projectId}/auto-deploy`, {
    token: app.owner,
    body: { enabled: true },
  });
  if (on.status !== 200) throw new Error(on.text);
  return { ...app, installationId, projectId };
}

type AutoDeploying = Awaited<ReturnType<typeof autoDeploying>>;

function deliver(app: GitHostApp, event: string, payload: unknown, secret = SECRET) {
  const raw = JSON.stringify(payload);
  return app.call("POST", WEBHOOK, { raw, headers: signedHeaders(event, raw, secret) });
}

function push(app: AutoDeploying, change: Parameters<typeof pushPayload>[1] = {}) {
  // Lists are sorted by time.
  app.world.clock.advance(1_000);
  return deliver(app, "push", pushPayload("acme/shop", { installationId: app.installationId, ...change }));
}

async function deployments(app: AutoDeploying) {
  return (await app.call("GET", `/api/deployments?projectId=${app.projectId}`, { token: app.owner })).body.data;
}

async function deliveries(app: AutoDeploying) {
  return (await app.call("GET", `/api/projects/${app.projectId}/webhook-deliveries`, { token: app.owner })).body.data;
}

describe("a push", () => {
  test("to the project's branch becomes a deployment of exactly that commit", async () => {
    const app = await autoDeploying();
    const after = sha();
    expect((await push(app, { after })).body).toEqual({ success: true, deployed: 1, ignored: 0 });
    const [deployment] = await deployments(app);
    expect(deployment).toMatchObject({ status: "queued", trigger: "push", branch: "main", commitSha: after });
    const stored = await app.world.deployments.get(deployment.id);
    expect(stored!.source).toMatchObject({ kind: "git", commit: after });
    const [shown] = await deliveries(app);
    expect(shown).toMatchObject({ event: "push", decision: "deployed", branch: "main", commitSha: after });
    expect(shown.deploymentId).toBe(deployment.id);
  });

  test("delivered ten times at once, or again later, becomes one deployment", async () => {
    const app = await autoDeploying();
    const raw = JSON.stringify(pushPayload("acme/shop", { installationId: app.installationId }));
    const headers = signedHeaders("push", raw, SECRET);
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.call("POST", WEBHOOK, { raw, headers })));
    for (const { body } of answers) expect(body).toEqual({ success: true, deployed: 1, ignored: 0 });
    expect((await app.call("POST", WEBHOOK, { raw, headers })).body.deployed).toBe(1);
    expect(await deployments(app)).toHaveLength(1);
  });

  test("that the app and the repository's webhook both report becomes one deployment", async () => {
    const app = await autoDeploying();
    const { organizationId } = (await app.world.appInstallations.find(app.installationId))!;
    await app.post("/repos/acme/shop/webhooks");
    const secret = (await app.world.repositoryHooks.secret(organizationId, { owner: "acme", repo: "shop" }))!.reveal();
    const payload = pushPayload("acme/shop", { installationId: app.installationId });
    const [byApp, byHook] = await Promise.all([deliver(app, "push", payload), deliver(app, "push", payload, secret)]);
    expect(byApp.body.deployed + byHook.body.deployed).toBe(1);
    expect(await deployments(app)).toHaveLength(1);
    const later = pushPayload("acme/shop", { installationId: app.installationId });
    await deliver(app, "push", later);
    expect((await deliver(app, "push", payload, secret)).body).toMatchObject({ deployed: 0, ignored: 1 });
  });

  test("has an outcome for each webhook that reports it under one id", async () => {
    const app = await autoDeploying();
    const raw = JSON.stringify(pushPayload("acme/shop", { installationId: 4_711 }));
    const headers = signedHeaders("push", raw, SECRET);
    expect((await app.call("POST", WEBHOOK, { raw, headers })).body.deployed).toBe(0);
    const { organizationId } = (await app.world.appInstallations.find(app.installationId))!;
    await app.post("/repos/acme/shop/webhooks");
    const secret = (await app.world.repositoryHooks.secret(organizationId, { owner: "acme", repo: "shop" }))!.reveal();
    const { "x-hub-signature-256": signature = "" } = signedHeaders("push", raw, secret);
    const again = { ...headers, "x-hub-signature-256": signature };
    expect((await app.call("POST", WEBHOOK, { raw, headers: again })).body.deployed).toBe(1);
    expect((await deliveries(app))[0].deliveryId).toBe(headers["x-github-delivery"]);
  });

  test("waits for a running build; of several waiting ones the newest is built", async () => {
    const app = await autoDeploying();
    await push(app);
    const [first] = await deployments(app);
    await app.world.deployments.change(first.id, (deployment) => ({
      deployment: { ...deployment, status: "building" },
      events: [],
    }));
    const commits = [sha(), sha(), sha()];
    for (const after of commits) await push(app, { after });
    const found = (await deployments(app)).map(({ status, commitSha }: Record<string, string>) => [status, commitSha]);
    expect(found).toEqual([
      ["queued", commits[2]],
      ["superseded", commits[1]],
      ["superseded", commits[0]],
      ["building", first.commitSha],
    ]);
  });

  test("that is reported after a newer one is not deployed", async () => {
    const app = await autoDeploying();
    const [older, newer] = [sha(), sha()];
    await push(app, { after: newer, at: 200 });
    expect((await push(app, { after: older, at: 100 })).body).toEqual({ success: true, deployed: 0, ignored: 1 });
    expect((await deployments(app)).map(({ commitSha }: { commitSha: string }) => commitSha)).toEqual([newer]);
    expect((await deliveries(app))[0]).toMatchObject({ decision: "superseded", commitSha: older });
  });

  test("leaves deployments that a person has queued alone", async () => {
    const app = await autoDeploying();
    await app.call("POST", "/api/deployments", { token: app.owner, body: { projectId: app.projectId } });
    await push(app);
    expect((await deployments(app)).map(({ status }: { status: string }) => status)).toEqual(["queued", "queued"]);
  });

  test.each([
    ["another branch", { ref: "refs/heads/next" }, 'deployed from the branch "main"'],
    ["a branch with slashes", { ref: "refs/heads/main/x" }, 'deployed from the branch "main"'],
    ["a tag", { ref: "refs/tags/main" }, "tag"],
    ["a deletion", { deleted: true, after: "0".repeat(40) }, "deleted"],
    ["an impossible branch", { ref: "refs/heads/--upload-pack=x" }, "branch name"],
  ])("of %s is ignored, with the reason", async (_, change, reason) => {
    const app = await autoDeploying();
    expect((await push(app, change)).body).toEqual({ success: true, deployed: 0, ignored: 1 });
    expect(await deployments(app)).toEqual([]);
    expect((await deliveries(app))[0]).toMatchObject({ decision: "ignored", reason: expect.stringContaining(reason) });
  });

  test("to the branch that the project names is deployed, unicode and slashes included", async () => {
    const app = await autoDeploying();
    const gitBranch = "feature/größe-✓";
    await app.call("PATCH", `/api/projects/${app.projectId}`, { token: app.owner, body: { gitBranch } });
    expect((await push(app, { ref: `refs/heads/${gitBranch}` })).body.deployed).toBe(1);
    expect((await push(app)).body.ignored).toBe(1);
  });

  test("does nothing while autoDeploy is off", async () => {
    const app = await autoDeploying();
    await app.call("POST", `/api/projects/${app.projectId}/auto-deploy`, {
      token: app.owner,
      body: { enabled: false },
    });
    await push(app);
    expect((await deliveries(app))[0].reason).toContain("autoDeploy is off");
  });

  test("of a fork, or of an installation of another organization, reaches no project", async () => {
    const app = await autoDeploying();
    const fork = pushPayload("eve/shop", { installationId: app.installationId });
    expect((await deliver(app, "push", fork)).body).toEqual({ success: true, deployed: 0, ignored: 0 });
    expect((await push(app, { installationId: 4_711 })).body).toEqual({ success: true, deployed: 0, ignored: 0 });
    expect(await deployments(app)).toEqual([]);
  });

  test("of a project with the approval gate waits for the approval", async () => {
    const app = await autoDeploying();
    await app.call("PATCH", `/api/projects/${app.projectId}`, { token: app.owner, body: { requireApproval: true } });
    await push(app);
    const [{ id }] = await deployments(app);
    expect((await app.world.deployments.get(id))!.requireApproval).toBe(true);
  });
});

describe("the receiver refuses", () => {
  const raw = JSON.stringify(pushPayload("acme/shop"));

  test.each([
    ["no signature", { "x-hub-signature-256": "" }],
    ["a wrong signature", { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }],
    ["a signature with an empty key", signedHeaders("push", raw, "")],
    ["the signature of another body", signedHeaders("push", "{}", SECRET)],
    ["a sha1 signature alone", { "x-hub-signature-256": "", "x-hub-signature": "sha1=0000" }],
  ])("%s", async (_, headers) => {
    const app = await autoDeploying();
    const all = { ...signedHeaders("push", raw, "other"), ...headers };
    const refused = await app.call("POST", WEBHOOK, { raw, headers: all });
    expect([refused.status, refused.body.code]).toEqual([401, "bad_signature"]);
    expect(await deployments(app)).toEqual([]);
  });

  test("what is not signed before it is parsed", async () => {
    const app = await autoDeploying();
    for (const body of ["{", "[".repeat(100_000), '{"repository":{"full_name":"acme\\u0000/shop"}}']) {
      const refused = await app.call("POST", WEBHOOK, { raw: body, headers: signedHeaders("push", body, "other") });
      expect([refused.status, refused.body.code]).toEqual([401, "bad_signature"]);
    }
  });

  test("what the webhook of one repository signs about another", async () => {
    const app = await autoDeploying();
    const { organizationId } = (await app.world.appInstallations.find(app.installationId))!;
    await app.post("/repos/acme/shop/webhooks");
    const secret = (await app.world.repositoryHooks.secret(organizationId, { owner: "acme", repo: "shop" }))!.reveal();
    const forged = { ...pushPayload("acme/secret"), parent: { full_name: "acme/shop" } };
    expect((await deliver(app, "push", forged, secret)).body.code).toBe("invalid_delivery");
  });

  test("everything while no secret is configured", async () => {
    const app = await gitHostApp();
    for (const secret of ["", "undefined", "null"]) {
      const refused = await app.call("POST", WEBHOOK, { raw, headers: signedHeaders("push", raw, secret) });
      expect(refused.status).toBe(401);
    }
  });

  test("what is signed but no delivery", async () => {
    const app = await autoDeploying();
    for (const body of ["{", "[]", "null", '"x"', "{}"]) {
      const refused = await app.call("POST", WEBHOOK, { raw: body, headers: signedHeaders("push", body, SECRET) });
      expect([body, refused.status]).toEqual([body, 400]);
    }
    const headers = { ...signedHeaders("push", raw, SECRET), "x-github-delivery": "" };
    expect((await app.call("POST", WEBHOOK, { raw, headers })).body.code).toBe("invalid_delivery");
  });

  test("a body over 25 MiB", async () => {
    const app = await autoDeploying();
    const large = `{"x":"${"a".repeat(26 * 1_048_576)}"}`;
    const refused = await app.call("POST", WEBHOOK, { raw: large, headers: signedHeaders("push", large, SECRET) });
    expect(refused.status).toBe(413);
  });
});

describe("an installation", () => {
  test("that is suspended, allowed again and uninstalled changes the state; projects stay", async () => {
    const app = await autoDeploying();
    const event = (action: string) => ({
      ...webhookExample("installation", (each) => each["action"] === "deleted"),
      action,
      installation: { id: app.installationId },
    });
    const state = async () => (await app.get("/status")).body.state;
    await deliver(app, "installation", event("suspend"));
    expect(await state()).toMatchObject({
      connected: false,
      sources: { app: { installations: [{ suspended: true }] } },
    });
    expect((await push(app)).body).toEqual({ success: true, deployed: 0, ignored: 0 });
    await deliver(app, "installation", event("unsuspend"));
    expect((await state()).connected).toBe(true);
    await deliver(app, "installation", event("deleted"));
    expect(await state()).toMatchObject({ connected: false, sources: { app: { installations: [] } } });
    expect((await app.call("GET", `/api/projects/${app.projectId}`, { token: app.owner })).status).toBe(200);
    const { data } = (await app.call("GET", "/api/audit?perPage=100", { token: app.owner })).body;
    const reported = data.filter(({ from }: Record<string, string>) => from === "git host");
    expect(reported.map(({ action, target, outcome }: Record<string, string>) => [action, target, outcome])).toEqual(
      expect.arrayContaining([
        ["githost.suspended", "acme", "succeeded"],
        ["githost.unsuspended", "acme", "succeeded"],
        ["githost.uninstalled", "acme", "succeeded"],
      ]),
    );
  });

  test("that gains and loses repositories tells the projects that are linked to them", async () => {
    const app = await autoDeploying();
    const change = (added: readonly string[], removed: readonly string[]) => ({
      ...webhookExample("installation_repositories"),
      installation: { id: app.installationId },
      repositories_added: added.map((name) => ({ full_name: name })),
      repositories_removed: removed.map((name) => ({ full_name: name })),
    });
    await deliver(app, "installation_repositories", change([], ["acme/other", "ACME/shop"]));
    app.world.clock.advance(1_000);
    await deliver(app, "installation_repositories", change(["acme/shop"], []));
    const shown = await deliveries(app);
    expect(shown.map(({ decision, reason }: Record<string, string>) => [decision, reason])).toEqual([
      ["applied", "The app can see this repository now"],
      ["applied", "The app cannot see this repository any more: another source has to clone it"],
    ]);
  });

  test("cannot be changed by the webhook of a repository", async () => {
    const app = await autoDeploying();
    const { organizationId } = (await app.world.appInstallations.find(app.installationId))!;
    await app.post("/repos/acme/shop/webhooks");
    const secret = (await app.world.repositoryHooks.secret(organizationId, { owner: "acme", repo: "shop" }))!.reveal();
    const forged = {
      action: "deleted",
      installation: { id: app.installationId },
      repository: { full_name: "acme/shop" },
    };
    expect((await deliver(app, "installation", forged, secret)).status).toBe(200);
    expect((await app.get("/status")).body.state.connected).toBe(true);
  });
});

test("every published example of every event is answered, and changes nothing here", async () => {
  const app = await autoDeploying();
  const { default: all } = await import("@octokit/webhooks-examples");
  for (const { name, examples } of all) {
    for (const payload of examples) expect([name, (await deliver(app, name, payload)).status]).toEqual([name, 200]);
  }
  expect(await deployments(app)).toEqual([]);
});

test("deliveries of a project are shown to those who can read it", async () => {
  const app = await autoDeploying();
  await push(app);
  const path = `/api/projects/${app.projectId}/webhook-deliveries`;
  const viewer = await member(app, "viewer");
  expect((await app.call("GET", path, { token: viewer.token })).body.total).toBe(1);
  const restricted = await member(app, "restricted", {
    grants: [{ resource: "project", id: "prj_x", action: "read" }],
  });
  expect((await app.call("GET", path, { token: restricted.token })).status).toBe(403);
});

describe("POST /api/projects/:id/auto-deploy", () => {
  test("registers the repository's webhook where the app does not report pushes", async () => {
    const app = await gitHostApp({ githostOAuth: OAUTH });
    await connectAccount(app, "ada");
    const ensured = { name: "Shop", gitOwner: "acme", gitRepo: "shop" };
    const { body } = await app.call("POST", "/api/projects/ensure", { token: app.owner, body: ensured });
    const path = `/api/projects/${body.project_id}/auto-deploy`;
    expect((await app.call("POST", path, { token: app.owner, body: { enabled: true } })).body.project.autoDeploy).toBe(
      true,
    );
    expect((await app.get("/repos/acme/shop/webhooks")).body.data).toHaveLength(1);
  });

  test("registers it too where the app is installed on other repositories of the owner only", async () => {
    const app = await gitHostApp({ githostApp: APP, githostOAuth: OAUTH, githostWebhookSecret: new Secret(SECRET) });
    await installApp(app, "acme", { repositories: ["shop"] });
    await connectAccount(app, "ada");
    const ensured = { name: "Secret", gitOwner: "acme", gitRepo: "secret" };
    const { body } = await app.call("POST", "/api/projects/ensure", { token: app.owner, body: ensured });
    const path = `/api/projects/${body.project_id}/auto-deploy`;
    expect((await app.call("POST", path, { token: app.owner, body: { enabled: true } })).status).toBe(200);
    expect(app.host.repositories.get("acme/secret")!.hooks.size).toBe(1);
  });

  test("is off again once the project is linked to another repository", async () => {
    const app = await autoDeploying();
    const link = { owner: "acme", repo: "secret" };
    const linked = await app.call("POST", `/api/projects/${app.projectId}/git/link`, { token: app.owner, body: link });
    expect(linked.body.project).toMatchObject({ gitRepo: "secret", autoDeploy: false });
  });

  test("is refused without a connection, or without a repository of the git host", async () => {
    const app = await gitHostApp();
    const ensured = { name: "Shop", gitOwner: "acme", gitRepo: "shop" };
    const { body } = await app.call("POST", "/api/projects/ensure", { token: app.owner, body: ensured });
    const enable = (id: string) =>
      app.call("POST", `/api/projects/${id}/auto-deploy`, { token: app.owner, body: { enabled: true } });
    expect((await enable(body.project_id)).body.code).toBe("auto_deploy_unavailable");
    const other = await app.call("POST", "/api/projects/ensure", { token: app.owner, body: { name: "Folder" } });
    expect((await enable(other.body.project_id)).status).toBe(400);
  });
});
