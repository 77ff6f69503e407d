import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import postgres from "postgres";
import type { TestProject } from "../support/apps/deploying.ts";
import { GitHostScene } from "../support/apps/git_host_scene.ts";
import { query } from "../support/database/query.ts";
import { eventually } from "../support/eventually.ts";
import { pushPayload, webhookExample } from "../support/inputs/webhook_payloads.ts";

const SITE = "acme/site";
/** Longer than a claim of a killed process is valid. */
const LATER = "interval '2 minutes'";

interface Row {
  readonly id: string;
  readonly status: string;
  readonly commitSha: string;
}

describe("a push", () => {
  let scene: GitHostScene;
  let installationId: number;
  let project: TestProject;
  beforeAll(async () => {
    scene = await GitHostScene.start(GitHostScene.app);
    scene.host.addRepository({ owner: "acme", name: "site", branches: { main: { "index.html": "first" } } });
    installationId = await scene.installApp("acme");
    project = await scene.link(SITE);
    const path = `/api/projects/${project.id}/auto-deploy`;
    expect((await project.call("POST", path, { body: { enabled: true } })).status).toBe(200);
    expect((await scene.post(`/repos/${SITE}/webhooks`)).status).toBe(200);
    await project.deployed();
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
  });

  const deployments = async (): Promise<readonly Row[]> =>
    (await project.call("GET", `/api/deployments?projectId=${project.id}&perPage=100`)).body.data;

  const ofCommit = async (commit: string) => (await deployments()).filter(({ commitSha }) => commitSha === commit);

  /** Delivers a push as the webhook of the repository does. */
  async function deliverByHook(payload: unknown, deliveryId?: string): Promise<Response> {
    const [hook] = scene.host.repositories.get(SITE)!.hooks.values();
    const to = { url: hook!.url, secret: hook!.settings.secret.reveal() };
    return await scene.host.deliver(to, "push", payload, deliveryId);
  }

  /** Waits until the only deployment of a commit is live. */
  async function served(commit: string, text: string): Promise<void> {
    const [only, ...others] = await ofCommit(commit);
    expect(others).toEqual([]);
    await project.deployed(only!.id);
    expect(await project.page()).toBe(text);
  }

  test("that the app and the repository's webhook report becomes one deployment, which serves its commit", async () => {
    const push = await scene.push(SITE, { "index.html": "second" });
    const payload = pushPayload(SITE, { ...push, installationId });
    const answers = await Promise.all([scene.deliverEvent("push", payload), deliverByHook(payload)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const deployed = await Promise.all(answers.map(async (answer) => (await bodyOf(answer))["deployed"]));
    expect(deployed.sort()).toEqual([0, 1]);
    await served(push.after, "second");
    expect(await project.get((await ofCommit(push.after))[0]!.id)).toMatchObject({ trigger: "push", branch: "main" });
  });

  test("that is delivered ten times at once becomes one deployment, and every answer is the same", async () => {
    const push = await scene.push(SITE, { "index.html": "third" });
    const payload = pushPayload(SITE, { ...push, installationId });
    const deliveryId = crypto.randomUUID();
    const deliver = () => scene.deliverEvent("push", payload, deliveryId);
    const answers = await Promise.all(Array.from({ length: 10 }, deliver));
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ success: true, deployed: 1, ignored: 0 });
    }
    await served(push.after, "third");
    const { data } = (await project.call("GET", `/api/projects/${project.id}/webhook-deliveries`)).body;
    const seen = data.filter((each: Record<string, string>) => each["deliveryId"] === deliveryId);
    expect(seen).toMatchObject([{ decision: "deployed", commitSha: push.after, branch: "main", event: "push" }]);
  });

  test("during a build waits; of several waiting ones the newest is built, and the others are superseded", async () => {
    const held = Promise.withResolvers<undefined>();
    const first = await scene.push(SITE, { "index.html": "fourth" });
    scene.host.intercept = ({ headers }) => (isOfBuild(headers) ? held.promise : undefined);
    const pushes = [first];
    try {
      expect((await scene.deliver(SITE, first, installationId)).status).toBe(200);
      await eventually(
        () => ofCommit(first.after),
        ([row]) => row?.status === "building",
      );
      for (const text of ["fifth", "sixth", "seventh"]) {
        const push = await scene.push(SITE, { "index.html": text });
        expect((await scene.deliver(SITE, push, installationId)).status).toBe(200);
        pushes.push(push);
      }
    } finally {
      held.resolve(undefined);
      scene.host.intercept = undefined;
    }
    const last = pushes.at(-1)!;
    await served(last.after, "seventh");
    const rows = await deployments();
    const statuses = pushes.map(({ after }) => rows.find(({ commitSha }) => commitSha === after)?.status);
    expect(statuses).toEqual(["ready", "superseded", "superseded", "ready"]);
  });

  test("of a killed server that had received it becomes one deployment when it is reported again", async () => {
    const push = await scene.push(SITE, { "index.html": "eighth" });
    const payload = pushPayload(SITE, { ...push, installationId });
    const deliveryId = crypto.randomUUID();
    const before = (await deployments()).length;
    await killBeforeItChanges("deployments", () => scene.deliverEvent("push", payload, deliveryId));
    await scene.slipway.start();
    expect(await deployments()).toHaveLength(before);

    // The webhook of the repository reports the same push; whether it is queued is not known yet.
    const other = await deliverByHook(payload);
    expect([other.status, (await bodyOf(other))["code"]]).toEqual([503, "delivery_running"]);
    await query(scene.database.url, `update webhook_deliveries set claimed_at = claimed_at - ${LATER}`);
    const again = await scene.deliverEvent("push", payload, deliveryId);
    expect(await again.json()).toEqual({ success: true, deployed: 1, ignored: 0 });
    await served(push.after, "eighth");
    const repeated = await scene.deliverEvent("push", payload, deliveryId);
    expect(await repeated.json()).toEqual({ success: true, deployed: 1, ignored: 0 });
    expect(await ofCommit(push.after)).toHaveLength(1);
  });

  test("of a killed server that had queued it stays one deployment when it is reported again", async () => {
    const push = await scene.push(SITE, { "index.html": "ninth" });
    const payload = pushPayload(SITE, { ...push, installationId });
    const deliveryId = crypto.randomUUID();
    await killBeforeItChanges("webhook_decisions", () => scene.deliverEvent("push", payload, deliveryId));
    await scene.slipway.start();
    await query(scene.database.url, `update webhook_deliveries set claimed_at = claimed_at - ${LATER}`);
    const answers = [await scene.deliverEvent("push", payload, deliveryId), await deliverByHook(payload)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await served(push.after, "ninth");
  });

  test("is not deployed once the app is uninstalled: the state says so, and the project stays and serves", async () => {
    await scene.host.uninstall(installationId);
    const example = webhookExample("installation", ({ action }) => action === "deleted");
    const event = { ...example, installation: { id: installationId } };
    expect((await scene.deliverEvent("installation", event)).status).toBe(200);
    expect(await scene.state()).toMatchObject({ connected: false, sources: { app: { installations: [] } } });
    const push = { before: "0".repeat(40), after: "1".repeat(40) };
    const answer = await scene.deliver(SITE, push, installationId);
    expect(await answer.json()).toEqual({ success: true, deployed: 0, ignored: 0 });
    expect((await project.call("GET", `/api/projects/${project.id}`)).status).toBe(200);
    expect(await project.page()).toBe("ninth");
  });

  /** Sends a delivery, and kills the server once it waits for this table. It ends without having changed it. */
  async function killBeforeItChanges(table: string, deliver: () => Promise<Response>): Promise<void> {
    const sql = postgres(scene.database.url, { max: 2, onnotice: () => {} });
    const claimed = () =>
      sql`select 1 from webhook_deliveries where finished_at is null and claimed_at > now() - interval '1 minute'`;
    const waiting = () => sql`select 1 from pg_locks where relation = ${table}::regclass and not granted`;
    try {
      await sql.begin(async (locked) => {
        await locked.unsafe(`lock table ${table} in share row exclusive mode`);
        const answer = deliver().then(
          () => "answered",
          () => "cut off",
        );
        // The delivery and the push are claimed.
        await eventually(claimed, ({ length }) => length === 2);
        await eventually(waiting, ({ length }) => length > 0);
        await scene.slipway.kill();
        expect(await answer).toBe("cut off");
        // PostgreSQL would carry out what it was sent.
        await locked`select pg_terminate_backend(pid, 5000) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`;
      });
    } finally {
      await sql.end();
    }
  }
});

async function bodyOf(answer: Response): Promise<Record<string, unknown>> {
  return (await answer.json()) as Record<string, unknown>;
}

/** Returns whether a request is one of git with the token of a build. */
function isOfBuild(headers: Headers): boolean {
  const [kind, encoded = ""] = (headers.get("authorization") ?? "").split(" ");
  return kind === "Basic" && atob(encoded).startsWith("x-access-token:");
}
