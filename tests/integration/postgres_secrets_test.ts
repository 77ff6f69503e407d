import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addKey } from "../../adapters/crypto/key_file.ts";
import { newKeyText } from "../../adapters/crypto/keyring.ts";
import { CryptoVault } from "../../adapters/crypto/vault.ts";
import { KEYS_CHANNEL, type PostgresWorld } from "../../adapters/postgres/postgres_world.ts";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import { eventually } from "../support/eventually.ts";
import { migratedDatabase, openStores, vaultOf } from "../support/database/postgres_stores.ts";
import {
  anOrganization,
  aProject,
  serviceSetOf,
  deploymentOf,
  founderOf,
  freeNameOf,
  projectOf,
  START,
} from "../support/database/store_builders.ts";
import { aCustomDomain, certificateOf, progressOf } from "../support/database/certificate_builders.ts";
import { adoptedOf } from "../support/inputs/adopted.ts";

const root = await mkdtemp(join(tmpdir(), "slipway-"));
afterAll(() => rm(root, { recursive: true, force: true }));

const GRANT = {
  token: new Secret("oauth token"),
  refreshToken: new Secret("refresh token"),
  expiresAt: START,
};
const DIRECTORY = "https://ca.example.com/directory";
const REPOSITORY = { owner: "Acme", repo: "Shop" };

/** Stores with a project, a server and a connection to the git host that have secrets. */
async function withSecrets(world: PostgresWorld, count = 3) {
  const { id: organizationId } = await anOrganization(world);
  const { id: projectId } = await aProject(world, { organizationId });
  const put = (from: PostgresWorld, key: string, value: string) =>
    from.variables.change(projectId, {
      upserts: [{ key, value: new Secret(value), secret: true }],
      deletes: [],
      at: START,
    });
  for (let index = 0; index < count; index++) await put(world, `KEY_${index}`, `value ${index}`);
  const ofPreviews = [{ key: "KEY_0", value: new Secret("preview value"), secret: true }];
  await world.variables.change(projectId, { upserts: ofPreviews, deletes: [], at: START, environment: "preview" });
  const serverId = newId("srv");
  await world.servers.create(
    {
      id: serverId,
      organizationId,
      name: "web",
      sshHost: "192.0.2.1",
      sshPort: 22,
      sshUser: "deploy",
      hostKey: null,
      hasSshPassword: true,
      hasSshPrivateKey: true,
      hasSshKeyPassphrase: false,
      lastCheckedAt: null,
      lastCheckError: null,
      createdAt: START,
      updatedAt: START,
    },
    { sshPassword: new Secret("password"), sshPrivateKey: new Secret("private key"), sshKeyPassphrase: null },
  );
  const link = { organizationId, url: "https://cloud.example.com", updatedAt: START };
  await world.cloudLinks.put(link, new Secret("cloud token"));
  const { id: userId } = await founderOf(world);
  const account = { organizationId, userId, login: "octocat", connectedAt: START };
  await world.oauthAccounts.put(account, GRANT);
  await world.connectAttempts.putDevice({
    organizationId,
    userId,
    deviceCode: new Secret("device code"),
    userCode: "ABCD-1234",
    verificationUri: "https://git.example.com/login/device",
    intervalSeconds: 5,
    nextCheckAt: START,
    expiresAt: START,
    status: "pending",
  });
  const hook = { organizationId, ...REPOSITORY, hookId: 1, createdAt: START };
  await world.repositoryHooks.put(hook, new Secret("hook secret"));
  const deployKey = { projectId, publicKey: "ssh-ed25519 AAAA", fingerprint: "SHA256:x", createdAt: START };
  await world.deployKeys.put(deployKey, new Secret("deploy key"));
  const certified = await withCertificate(world, { organizationId, projectId });
  const adopted = projectOf({ organizationId });
  const adoption = { services: [adoptedOf("web", { recipe: new Secret("recipe") })], variables: [] };
  await world.adoptions.create(adopted, freeNameOf(adopted), adoption);
  const deployment = deploymentOf({ organizationId, projectId });
  const environment = new Map([["KEY", new Secret("former value")]]);
  await world.deployments.create(deployment, { environment, events: [], serviceSet: serviceSetOf("web") });
  const ids = { organizationId, userId, projectId, serverId, adoptedId: adopted.id, deploymentId: deployment.id };
  return { ...ids, ...certified, put };
}

/** Stores a certificate, the order of the next one, and the account at the authority. */
async function withCertificate(
  world: PostgresWorld,
  place: { readonly organizationId: string; readonly projectId: string },
) {
  const { id: domainId, hostname } = await aCustomDomain(world, place);
  const order = await world.certificateOrders.take({ leaseMs: 60_000, domainId });
  await world.certificateOrders.complete(
    order!,
    certificateOf(hostname, { key: new Secret("certificate key") }),
    START,
  );
  const next = await world.certificateOrders.take({ leaseMs: 60_000, domainId });
  const progress = progressOf({ key: new Secret("order key") });
  await world.certificateOrders.retry(next!, { error: null, afterMs: 0, progress });
  await world.authorityAccounts.key(DIRECTORY, async () => new Secret("account key"));
  return { domainId, hostname };
}

type Stored = Awaited<ReturnType<typeof withSecrets>>;

/** All secrets in plain text. */
async function reveal(world: PostgresWorld, stored: Stored) {
  const { organizationId, userId, projectId, serverId, adoptedId, deploymentId } = stored;
  const credentials = await world.servers.credentials(organizationId, serverId);
  const grant = await world.oauthAccounts.grant(organizationId, userId);
  const order = await world.certificateOrders.take({ leaseMs: 0, domainId: stored.domainId });
  return {
    variables: [...(await world.variables.reveal(projectId))].map(([key, value]) => `${key}=${value.reveal()}`),
    previewVariable: (await world.variables.reveal(projectId, "preview")).get("KEY_0")?.reveal(),
    password: credentials?.sshPassword?.reveal(),
    privateKey: credentials?.sshPrivateKey?.reveal(),
    cloud: (await world.cloudLinks.address(organizationId))?.token.reveal(),
    oauth: [grant?.token.reveal(), grant?.refreshToken?.reveal()],
    deviceCode: (await world.connectAttempts.device(organizationId, userId))?.deviceCode.reveal(),
    hook: (await world.repositoryHooks.secret(organizationId, REPOSITORY))?.reveal(),
    deployKey: (await world.deployKeys.privateKey(projectId))?.reveal(),
    certificate: (await world.certificates.find(stored.hostname))?.key.reveal(),
    order: order?.progress?.key.reveal(),
    account: (await world.authorityAccounts.key(DIRECTORY, () => Promise.reject(new Error("Unknown")))).reveal(),
    recipes: (await world.adoptions.list(adoptedId)).map(({ recipe }) => recipe.reveal()),
    deployment: (await world.deployments.environment(deploymentId)).get("KEY")?.reveal(),
    serviceSet: await world.serviceSets.read(deploymentId),
  };
}

const ALL = {
  variables: ["KEY_0=value 0", "KEY_1=value 1", "KEY_2=value 2"],
  previewVariable: "preview value",
  password: "password",
  privateKey: "private key",
  cloud: "cloud token",
  oauth: ["oauth token", "refresh token"],
  deviceCode: "device code",
  hook: "hook secret",
  deployKey: "deploy key",
  certificate: "certificate key",
  order: "order key",
  account: "account key",
  recipes: ["recipe"],
  deployment: "former value",
  serviceSet: serviceSetOf("web"),
};
const WRONG_KEY = { name: "Failure", kind: "unavailable", code: "wrong_secret_key" };
const UNREADABLE = { name: "Failure", kind: "unavailable", code: "secret_unreadable" };

describe("secrets in PostgreSQL", () => {
  test("stores open again with the same key and read everything", async () => {
    await using database = await migratedDatabase();
    const key = newKeyText();
    const first = await openStores({ url: database.url, vault: await vaultOf(key) });
    const stored = await withSecrets(first);
    await first[Symbol.asyncDispose]();
    await using second = await openStores({ url: database.url, vault: await vaultOf(key) });
    expect(await reveal(second, stored)).toEqual(ALL);
  });

  test("stores refuse to open with another key, even with nothing sealed yet, naming the one they need", async () => {
    await using database = await migratedDatabase();
    const vault = await vaultOf();
    const first = await openStores({ url: database.url, vault });
    await first[Symbol.asyncDispose]();
    const failure = await openStores({ url: database.url }).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject(WRONG_KEY);
    expect((failure as Error).message).toBe(
      `Cannot start: the database was sealed with key ${vault.keyId()}, which is not configured. Set SLIPWAY_SECRET_KEY (or SLIPWAY_SECRET_KEY_PREVIOUS) to it`,
    );
  });

  test("of several first starts with different keys at once, one succeeds", async () => {
    await using database = await migratedDatabase();
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => openStores({ url: database.url })));
    const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    for (const world of opened) await world[Symbol.asyncDispose]();
    expect(opened).toHaveLength(1);
    for (const reason of refused) expect(reason).toMatchObject(WRONG_KEY);
  });

  test("a damaged check value counts as a wrong key", async () => {
    await using database = await migratedDatabase();
    const vault = await vaultOf();
    await using world = await openStores({ url: database.url, vault });
    await world.database.sql`update vault_keys set check_value = overlay(check_value placing 'AAAA' from 40)`;
    await expect(openStores({ url: database.url, vault })).rejects.toMatchObject(WRONG_KEY);
  });

  test("a text that was changed, or moved to another row or column, is not read", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const stored = await withSecrets(world);
    const { sql } = world.database;
    await sql`update servers set sealed_password = sealed_private_key`;
    await expect(world.servers.credentials(stored.organizationId, stored.serverId)).rejects.toMatchObject(UNREADABLE);
    await sql`update cloud_links set sealed_token = (select sealed_value from variables limit 1)`;
    await expect(world.cloudLinks.address(stored.organizationId)).rejects.toMatchObject(UNREADABLE);
    await sql`update deploy_keys set sealed_private_key = (select sealed_value from variables limit 1)`;
    await expect(world.deployKeys.privateKey(stored.projectId)).rejects.toMatchObject(UNREADABLE);
    await sql`update deployment_compositions set sealed_composition = (select sealed_values from deployment_environments)`;
    await expect(world.serviceSets.read(stored.deploymentId)).rejects.toMatchObject(UNREADABLE);
    const { organizationId, userId } = stored;
    await sql`update oauth_accounts set sealed_token = sealed_refresh_token`;
    await expect(world.oauthAccounts.grant(organizationId, userId)).rejects.toMatchObject(UNREADABLE);
    await sql`update device_attempts set sealed_device_code = (select sealed_secret from repository_hooks)`;
    await expect(world.connectAttempts.device(organizationId, userId)).rejects.toMatchObject(UNREADABLE);
    await sql`update repository_hooks set repo_key = 'other'`;
    const moved = world.repositoryHooks.secret(organizationId, { owner: "acme", repo: "other" });
    await expect(moved).rejects.toMatchObject(UNREADABLE);
    await sql`update certificates set sealed_key = (select sealed_key from certificate_orders)`;
    await expect(world.certificates.find(stored.hostname)).rejects.toMatchObject(UNREADABLE);
    await sql`
      update preview_variables set sealed_value = (select sealed_value from variables where key = 'KEY_0')`;
    await expect(world.variables.reveal(stored.projectId, "preview")).rejects.toMatchObject(UNREADABLE);
    await sql`update variables set sealed_value = 'value 0' where key = 'KEY_0'`;
    await expect(world.variables.reveal(stored.projectId)).rejects.toMatchObject(UNREADABLE);
  });

  test("reseal() moves every column to the new key, after which the former one is not needed", async () => {
    await using database = await migratedDatabase();
    const [former, current] = [newKeyText(), newKeyText()];
    const before = await openStores({ url: database.url, vault: await vaultOf(former) });
    const stored = await withSecrets(before);
    await before[Symbol.asyncDispose]();
    const vault = await vaultOf(current, former);
    const both = await openStores({ url: database.url, vault });
    while ((await both.sealedRows.reseal(2)) > 0);
    expect(await both.sealedRows.countByKey()).toEqual(new Map([[vault.keyId(), 18]]));
    await both[Symbol.asyncDispose]();
    await using after = await openStores({ url: database.url, vault: await vaultOf(current) });
    expect(await reveal(after, stored)).toEqual(ALL);
    await expect(openStores({ url: database.url, vault: await vaultOf(former) })).rejects.toMatchObject(WRONG_KEY);
  });

  test("OAuth tokens are renewed while they are encrypted anew", async () => {
    await using database = await migratedDatabase();
    const [former, current] = [newKeyText(), newKeyText()];
    await using before = await openStores({ url: database.url, vault: await vaultOf(former, current) });
    await using world = await openStores({ url: database.url, vault: await vaultOf(current, former) });
    const account = await withSecrets(before);
    const grants = Array.from({ length: 30 }, (_, index) => ({
      token: new Secret(`token ${index}`),
      refreshToken: new Secret(`refresh ${index}`),
      expiresAt: null,
    }));
    // Each renewal encrypts with the former key, so that there is always something to encrypt anew.
    const writing = new AbortController();
    const resealing = (async () => {
      while (!writing.signal.aborted) await world.sealedRows.reseal(100);
    })();
    let known = GRANT as Parameters<typeof before.oauthAccounts.renew>[1];
    for (const grant of grants) {
      expect(await before.oauthAccounts.renew(account, known, grant)).toBe(true);
      known = grant;
    }
    writing.abort();
    await resealing;
    expect((await reveal(world, account)).oauth).toEqual(["token 29", "refresh 29"]);
  });

  test("reseal() continues past what cannot be read, and reports it when nothing else is left", async () => {
    await using database = await migratedDatabase();
    const [former, current] = [newKeyText(), newKeyText()];
    await using before = await openStores({ url: database.url, vault: await vaultOf(former) });
    const stored = await withSecrets(before);
    await before.database.sql`
      update variables set sealed_value = sealed_value || 'x' where key in ('KEY_0', 'KEY_1')`;
    const vault = await vaultOf(current, former);
    await using world = await openStores({ url: database.url, vault });
    let resealed = 0;
    for (let count = 1; count > 0; resealed += count) {
      count = await world.sealedRows.reseal(1).catch((error: unknown) => {
        expect(error).toMatchObject(UNREADABLE);
        return 0;
      });
    }
    expect(resealed).toBe(16);
    expect((await world.sealedRows.countByKey()).get(vault.keyId())).toBe(16);
    await expect(world.sealedRows.reseal(1)).rejects.toMatchObject(UNREADABLE);
    expect((await world.cloudLinks.address(stored.organizationId))?.token.reveal()).toBe("cloud token");
  });

  test("a key is rotated while another process writes, without a lost or unreadable secret", async () => {
    await using database = await migratedDatabase();
    const folder = join(root, "rotation");
    const [vault, others] = [await CryptoVault.load({ folder }), await CryptoVault.load({ folder })];
    await using world = await openStores({ url: database.url, vault });
    await using writer = await openStores({ url: database.url, vault: others });
    const stored = await withSecrets(world);
    const writing = new AbortController();
    let written = 0;
    const writes = (async () => {
      while (!writing.signal.aborted) {
        written++;
        await stored.put(writer, `KEY_${written % 3}`, `later ${written % 3}`);
      }
    })();
    const added = await addKey(folder);
    await world.signals.publish(KEYS_CHANNEL, added);
    await eventually(
      async () => vault.keyId() === added && others.keyId() === added,
      (hasBoth) => hasBoth,
    );
    await eventually(
      () => world.sealedRows.reseal(1),
      (resealed) => resealed === 0 && written >= 10,
    );
    writing.abort();
    await writes;
    while ((await world.sealedRows.reseal(100)) > 0);
    expect(await world.sealedRows.countByKey()).toEqual(new Map([[added, 18]]));
    const { variables } = await reveal(writer, stored);
    expect(variables).toEqual(["KEY_0=later 0", "KEY_1=later 1", "KEY_2=later 2"]);
  });

  test("a key rotation resumes after its process was killed", async () => {
    await using database = await migratedDatabase();
    const folder = join(root, "killed");
    const vault = await CryptoVault.load({ folder });
    await using world = await openStores({ url: database.url, vault });
    const stored = await withSecrets(world, 60);
    const before = await reveal(world, stored);
    const added = await addKey(folder);
    const script = join(import.meta.dir, "../support/database/resealing_process.ts");
    const killed = Bun.spawn([process.execPath, script, database.url, folder], { stdout: "pipe", stderr: "inherit" });
    await killed.stdout.getReader().read();
    killed.kill("SIGKILL");
    await killed.exited;
    const halfway = await world.sealedRows.countByKey();
    expect(halfway.get(added)).toBeGreaterThan(0);
    expect(await reveal(world, stored)).toEqual(before);
    await vault.reload();
    while ((await world.sealedRows.reseal(10)) > 0);
    expect(await world.sealedRows.countByKey()).toEqual(new Map([[added, 75]]));
    expect(await reveal(world, stored)).toEqual(before);
  });
});
