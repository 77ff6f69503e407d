import { describe, expect, test } from "bun:test";
import { newKeyText } from "../../adapters/crypto/keyring.ts";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import { migratedDatabase, openStores, setBack, vaultOf } from "../support/database/postgres_stores.ts";
import {
  aDeployment,
  anOrganization,
  aProject,
  serviceSetOf,
  deploymentOf,
  founderOf,
  freeNameOf,
  logLine,
  minutes,
  projectOf,
  START,
  uniqueLabel,
} from "../support/database/store_builders.ts";
import { adoptedOf } from "../support/inputs/adopted.ts";
import { PLENTY, sessionOf } from "../support/database/upload_session_builders.ts";
import { storeContracts } from "../contracts/all_stores.ts";
import { sealedRowsContract } from "../contracts/sealed_rows.ts";

const NONE = { decisions: [] };
const ADOPTION = { services: [adoptedOf("web")], variables: [{ key: "web/A", value: new Secret("b"), secret: false }] };
const atOnce = (work: (id: string) => Promise<unknown>) => Promise.all(["a", "b", "b"].map(work));

/** The stores of two processes on a new database. */
async function openPostgres() {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await migratedDatabase());
  const vault = await vaultOf();
  const world = opened.use(await openStores({ url, vault }));
  const elsewhere = opened.use(await openStores({ url, vault }));
  const held = opened.move();
  const elapse = (ms: number) => setBack(world.database, ms);
  return { ...world, elsewhere, now: () => new Date(), elapse, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

storeContracts("postgres", openPostgres);

sealedRowsContract("postgres", async () => {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await migratedDatabase());
  const [former, current] = [newKeyText(), newKeyText()];
  const [formerVault, vault] = [await vaultOf(former), await vaultOf(current, former)];
  const before = opened.use(await openStores({ url, vault: formerVault }));
  const now = opened.use(await openStores({ url, vault }));
  const { id: organizationId } = await anOrganization(now);
  const { id: projectId } = await aProject(now, { organizationId });
  const held = opened.move();
  let count = 0;
  return {
    sealedRows: now.sealedRows,
    currentKey: vault.keyId(),
    formerKey: formerVault.keyId(),
    async storeFormerly(secret) {
      const key = `SECRET_${++count}`;
      const put = (world: typeof now, value: Secret) =>
        world.variables.change(projectId, { upserts: [{ key, value, secret: true }], deletes: [], at: START });
      await put(before, secret);
      return {
        read: async () => (await now.variables.reveal(projectId)).get(key)!,
        write: (next) => put(now, next),
      };
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
});

describe("PostgreSQL stores", () => {
  test("a text with a NUL character is refused without an internal error, and changes nothing", async () => {
    await using world = await openPostgres();
    const { id: organizationId } = await anOrganization(world);
    const project = await aProject(world, { organizationId });
    const refused = { name: "Failure", kind: "invalid", code: "invalid_text" };
    const change = (settings: object) =>
      world.projects.change(organizationId, project.id, { change: () => settings, at: minutes(1) });
    await expect(change({ name: "a\0b" })).rejects.toMatchObject(refused);
    await expect(change({ settings: { buildCommand: "a\0b" } })).rejects.toMatchObject(refused);
    await expect(change({ settings: { buildCommand: "a\ud800b" } })).rejects.toMatchObject(refused);
    await expect(world.projects.list(organizationId, { search: "\0" }, { page: 1, perPage: 1 })).rejects.toMatchObject(
      refused,
    );
    await expect(world.projects.list(organizationId, { ids: ["\0"] }, { page: 1, perPage: 1 })).rejects.toMatchObject(
      refused,
    );
    await expect(world.users.findByEmail("a\0@example.com")).rejects.toMatchObject(refused);
    await expect(world.attempts.take("\0", { limit: 1, windowMs: 1_000 })).rejects.toMatchObject(refused);
    expect(await world.projects.find(organizationId, project.id)).toEqual(project);
  });

  test("a text too long for an index is refused without an internal error", async () => {
    await using world = await openPostgres();
    const { id: organizationId } = await anOrganization(world);
    // Random, because the index compresses repetitions.
    const slug = Array.from({ length: 200 }, uniqueLabel).join("");
    const project = await aProject(world, { organizationId });
    await expect(
      world.projects.change(organizationId, project.id, { change: () => ({ slug }), at: START }),
    ).rejects.toMatchObject({ kind: "invalid", code: "text_too_long" });
  });

  test("keys of any length are kept apart", async () => {
    await using world = await openPostgres();
    const long = Array.from({ length: 500 }, uniqueLabel).join("");
    const request = { caller: "caller", key: long, route: "POST /", body: "aa" };
    expect((await world.idempotentAnswers.claim(request, 60_000)).state).toBe("mine");
    expect((await world.idempotentAnswers.claim(request, 60_000)).state).toBe("running");
    expect((await world.idempotentAnswers.claim({ ...request, key: `${long}x` }, 60_000)).state).toBe("mine");
    const once = { limit: 1, windowMs: 60_000 };
    expect(await world.attempts.take(long, once)).toBe(0);
    expect(await world.attempts.take(long, once)).toBeGreaterThan(0);
    expect(await world.attempts.take(`${long}x`, once)).toBe(0);
  });

  test("a reference to something removed meanwhile is a conflict, not an internal error", async () => {
    await using world = await openPostgres();
    const session = { id: newId("ses"), userId: newId("usr"), createdAt: START, expiresAt: minutes(1) };
    await expect(world.sessions.create(session, "unknown user")).rejects.toMatchObject({
      kind: "conflict",
      code: "changed_meanwhile",
    });
  });

  test("a project may be deleted while a decision about it is stored", async () => {
    await using world = await openPostgres();
    const { id: organizationId } = await anOrganization(world);
    const kept = await aProject(world, { organizationId });
    const about = (projectId: string) =>
      ({
        projectId,
        organizationId,
        decision: "ignored",
        reason: "Another branch",
        deploymentId: null,
        branch: "main",
        commitSha: null,
      }) as const;
    for (let round = 0; round < 20; round++) {
      const { id } = await aProject(world, { organizationId });
      const receivedAt = minutes(round);
      const delivery = { deliveryId: `${round}`, event: "push", action: null, repository: null, receivedAt };
      expect(await world.webhookDeliveries.begin(delivery)).toBe("new");
      const decisions = [about(id), about(kept.id)];
      const finished = world.webhookDeliveries.finish(delivery.deliveryId, { decisions });
      await Promise.all([finished, world.elsewhere.projects.remove(organizationId, id)]);
      expect(await world.webhookDeliveries.begin(delivery)).toEqual({ decisions: [about(kept.id)] });
    }
  });

  test("of two processes that begin one delivery, or take one attempt to connect, one succeeds", async () => {
    await using world = await openPostgres();
    const { id: organizationId } = await anOrganization(world);
    const { id: userId } = await founderOf(world);
    const { elsewhere } = world;
    const everywhere = <T>(work: (stores: typeof elsewhere) => Promise<T>) =>
      Promise.all(Array.from({ length: 20 }, (_, index) => work(index % 2 === 0 ? world : elsewhere)));
    const delivery = { deliveryId: "one", event: "push", action: null, repository: null, receivedAt: START };
    const begun = await everywhere((stores) => stores.webhookDeliveries.begin(delivery));
    expect(begun.filter((outcome) => outcome === "new")).toHaveLength(1);
    const attempt = { organizationId, userId, installationId: null, startedAt: START, expiresAt: minutes(10) };
    await world.connectAttempts.put({ ...attempt, stateHash: "one" });
    const taken = await everywhere((stores) => stores.connectAttempts.take("one", START));
    expect(taken.filter(Boolean)).toHaveLength(1);
    await world.connectAttempts.putDevice({
      organizationId,
      userId,
      deviceCode: new Secret("code"),
      userCode: "ABCD-1234",
      verificationUri: "https://git.example.com/login/device",
      intervalSeconds: 5,
      nextCheckAt: START,
      expiresAt: minutes(10),
      status: "pending",
    });
    const due = await everywhere((stores) => stores.connectAttempts.takeDueDevice(minutes(1)));
    expect(due.filter(Boolean)).toHaveLength(1);
  });

  test("lists and lookups take one statement each", async () => {
    await using database = await migratedDatabase();
    const statements: string[] = [];
    await using world = await openStores({ url: database.url, onStatement: (text) => statements.push(text) });
    const { id: organizationId } = await anOrganization(world);
    const { id: userId } = await founderOf(world);
    const project = await aProject(world, { organizationId });
    const deployment = await aDeployment(world, { organizationId, projectId: project.id });
    const adopted = projectOf({ organizationId });
    const log = { deploymentId: deployment.id, service: "web" };
    const lines = [{ seq: 1, at: START, stream: "stdout", message: "hello" }] as const;
    await world.runtimeLogs.append(log, { instanceId: "one", lines, leftOut: null }, { maxBytes: 1_000 });
    const page = { page: 1, perPage: 10 };
    const upload = sessionOf({ organizationId, userId });
    const claim = { deploymentId: deployment.id, owner: "one", attempt: 1 };
    const delivery = { deliveryId: "one", event: "push", action: null, repository: null, receivedAt: START };
    const named = (id: string) => ({ ...delivery, deliveryId: id });
    const operations: readonly [string, () => Promise<unknown>][] = [
      ["projects.list", () => world.projects.list(organizationId, {}, page)],
      ["projects.list by search", () => world.projects.list(organizationId, { search: "x", ids: ["y"] }, page)],
      ["projects.find", () => world.projects.find(organizationId, project.id)],
      ["deploymentHistory.list", () => world.deploymentHistory.list(organizationId, {}, page)],
      [
        "deploymentHistory.list of some",
        () => world.deploymentHistory.list(organizationId, { projectIds: ["x"], ids: ["y"] }, page),
      ],
      ["deploymentHistory.find", () => world.deploymentHistory.find(organizationId, deployment.id)],
      ["deployments.find", () => world.deployments.find(organizationId, deployment.id)],
      ["deployments.ofProject", () => world.deployments.ofProject(project.id)],
      ["deployments.environment", () => world.deployments.environment(deployment.id)],
      ["adoptions.create", () => world.adoptions.create(adopted, freeNameOf(adopted), ADOPTION)],
      ["adoptions.list", () => world.adoptions.list(adopted.id)],
      ["serviceSets.read", () => world.serviceSets.read(deployment.id)],
      ["serviceSets.write", () => world.serviceSets.write(deployment.id, serviceSetOf("web"))],
      ["deploymentEvents.append", () => world.deploymentEvents.append(deployment.id, [logLine("a"), logLine("b")])],
      ["deploymentEvents.read", () => world.deploymentEvents.read(deployment.id, { since: 0, limit: 10 })],
      ["deploymentEvents.last", () => world.deploymentEvents.last(deployment.id)],
      ["runtimeLogs.states", () => world.runtimeLogs.states([log])],
      ["runtimeLogs.read", () => world.runtimeLogs.read(log, { since: 0, limit: 10 })],
      ["runtimeLogs.crowded", () => world.runtimeLogs.crowded(20)],
      ["deploymentQueue.take", () => world.deploymentQueue.take({ owner: "one", leaseMs: 60_000, maxBuilds: 1 })],
      ["deploymentQueue.renew", () => world.deploymentQueue.renew(claim, 60_000)],
      [
        "deploymentEvents.append under a claim",
        () => world.deploymentEvents.append(deployment.id, [logLine("a")], claim),
      ],
      ["liveReleases.activate", () => world.liveReleases.activate(deployment.id, { claim, at: START })],
      ["uploadSessions.create", () => world.uploadSessions.create(upload, { lifetimeMs: 1_000, quota: PLENTY })],
      ["uploadSessions.list", () => world.uploadSessions.list(organizationId, userId, page)],
      ["installations.list", () => world.appInstallations.list(organizationId)],
      ["oauthAccounts.list", () => world.oauthAccounts.list(organizationId)],
      ["connectAttempts.takeDueDevice", () => world.connectAttempts.takeDueDevice(START)],
      ["repositoryHooks.secrets", () => world.repositoryHooks.secrets({ owner: "acme", repo: "shop" })],
      ["webhookDeliveries.begin", () => world.webhookDeliveries.begin(delivery)],
      ["webhookDeliveries.finish", () => world.webhookDeliveries.finish(delivery.deliveryId, { decisions: [] })],
      ["webhookDeliveries.record at once", () => atOnce((id) => world.webhookDeliveries.record(named(id), NONE))],
      ["linkedProjects.of at once", () => atOnce(() => world.linkedProjects.of({ owner: "acme", repo: "shop" }))],
      ["appInstallations.find at once", () => atOnce(() => world.appInstallations.find(1))],
      ["webhookDeliveries.list", () => world.webhookDeliveries.list(project.id, page)],
      ["commitReports.take", () => world.commitReports.take(60_000)],
      ["commitReports.nextDueMs", () => world.commitReports.nextDueMs()],
      ["servers.list", () => world.servers.list(organizationId, {}, page)],
      ["domains.list", () => world.domains.list(organizationId, {}, page)],
      ["domains.ofProjects", () => world.domains.ofProjects([project.id, "x"])],
      ["members.list", () => world.members.list(organizationId, page)],
      ["tokens.list", () => world.tokens.list({ organizationId, userId }, page)],
      ["invitations.list", () => world.invitations.list(organizationId, START, page)],
      ["organizations.list", () => world.organizations.list([organizationId], page)],
      ["auditLog.list", () => world.auditLog.list(organizationId, {}, page)],
      ["identities.find", () => world.identities.find("token", "unknown")],
    ];
    for (const [name, run] of operations) {
      statements.length = 0;
      await run();
      expect(statements, name).toHaveLength(1);
    }
  });

  test("no secret is stored in clear text in the database", async () => {
    await using world = await openPostgres();
    const { id: organizationId } = await anOrganization(world);
    const { id: projectId } = await aProject(world, { organizationId });
    const value = new Secret("canary-in-the-mine");
    const upserts = ["PLAIN", "HIDDEN"].map((key) => ({ key, value, secret: key === "HIDDEN" }));
    await world.variables.change(projectId, { upserts, deletes: [], at: START });
    await world.variables.change(projectId, { upserts, deletes: [], at: START, environment: "preview" });
    await world.cloudLinks.put({ organizationId, url: "https://example.com", updatedAt: START }, value);
    const member = { organizationId, userId: (await founderOf(world)).id };
    const grant = { token: value, refreshToken: value, expiresAt: null };
    await world.oauthAccounts.put({ ...member, login: "octocat", connectedAt: START }, grant);
    await world.connectAttempts.putDevice({
      ...member,
      deviceCode: value,
      userCode: "ABCD-1234",
      verificationUri: "https://git.example.com/login/device",
      intervalSeconds: 5,
      nextCheckAt: START,
      expiresAt: START,
      status: "pending",
    });
    const hook = { organizationId, owner: "acme", repo: "shop", hookId: 1, createdAt: START };
    await world.repositoryHooks.put(hook, value);
    const deployKey = { projectId, publicKey: "ssh-ed25519 AAAA", fingerprint: "SHA256:x", createdAt: START };
    await world.deployKeys.put(deployKey, value);
    const adopting = projectOf({ organizationId });
    const services = [adoptedOf("web", { recipe: value, containerName: value.reveal() })];
    const variables = [{ key: "web/PLAIN", value, secret: false }];
    await world.adoptions.create(adopting, freeNameOf(adopting), { services, variables });
    const environment = new Map([["HIDDEN", value]]);
    const deployment = deploymentOf({ organizationId, projectId });
    await world.deployments.create(deployment, { environment, events: [], serviceSet: serviceSetOf(value.reveal()) });
    await world.serviceSets.write(deployment.id, serviceSetOf("web", value.reveal()));
    const [row] = await world.database.run(
      (sql) => sql<{ dump: string }[]>`
        select string_agg(whole, ' ') as dump from (
          select variables::text as whole from variables union all select cloud_links::text from cloud_links
          union all select preview_variables::text from preview_variables
          union all select oauth_accounts::text from oauth_accounts
          union all select device_attempts::text from device_attempts
          union all select repository_hooks::text from repository_hooks
          union all select deployments::text from deployments
          union all select projects::text from projects union all select deploy_keys::text from deploy_keys
          union all select adopted_services::text from adopted_services
          union all select deployment_environments::text from deployment_environments
          union all select deployment_compositions::text from deployment_compositions
        ) as everything`,
    );
    expect(row?.dump).toContain("v1.");
    expect(row?.dump).not.toContain("canary");
    expect((await world.cloudLinks.address(organizationId))?.token.reveal()).toBe("canary-in-the-mine");
  });
});
