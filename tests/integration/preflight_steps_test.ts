import { describe, expect, test } from "bun:test";
import type { MemoryFaults } from "../../adapters/memory/object_storages.ts";
import { openDestination } from "../../application/backups/open_destination.ts";
import { PROBE_LIMITS, runProbe } from "../../application/backups/run_probe.ts";
import { type DestinationInput, readDraft } from "../../domain/backups/destination_input.ts";
import { probeKey } from "../../domain/backups/probe.ts";
import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import { member, memoryApp, type TestApp } from "../support/apps/app.ts";
import { textBody } from "../support/inputs/bodies.ts";
import { SERVER } from "../support/apps/furnished.ts";

const PATH = "/api/backup-destinations";
const KEY = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
const S3 = { name: "N", kind: "s3_compatible", bucket: "backups", accessKeyId: "id", secretAccessKey: "secret" };
const SFTP = { name: "Box", kind: "sftp", sshHost: "box.example.com", sshUser: "me", sftpPassword: "p" };
const BOX = "me@box.example.com/";

const failure = (code: string) => new Failure("remote_failed", code, `Cannot do it: ${code}`);

async function scene(body: object = S3) {
  const app = await memoryApp();
  const { id } = (await app.call("POST", PATH, { token: app.owner, body })).body.data;
  return {
    app,
    ...acts(app, id),
    storages: app.world.objectStorages,
    store: app.world.objectStorages.at("bucket" in body ? "backups" : BOX),
  };
}

function acts({ call, owner }: TestApp, id: string) {
  return {
    id,
    read: async () => (await call("GET", `${PATH}/${id}`, { token: owner })).body.data,
    preflight: async () => (await call("POST", `${PATH}/${id}/preflight`, { token: owner })).body,
    change: (body: object) => call("PATCH", `${PATH}/${id}`, { token: owner, body }),
  };
}

/** Opens a bucket destination as backups do, with its own limits. */
async function opener(
  { world }: TestApp,
  { input = {}, idleMs = 60_000 }: { input?: DestinationInput; idleMs?: number } = {},
) {
  const localBackups = { mode: "self-hosted", allowed: false, root: undefined, dataFolder: "/data" } as const;
  const storageLimits = { attempts: 3, pauseMs: 1, idleMs, atOnce: 8 };
  const open = openDestination({ ...world, localBackups, storageLimits });
  const secrets = { accessKeyId: new Secret("id"), secretAccessKey: new Secret("secret") };
  const draft = await readDraft({ kind: "s3_compatible", bucket: "backups", ...secrets, ...input });
  return (options?: { readonly signal?: AbortSignal | undefined }) => open("org_1", draft, options);
}

describe("preflight", () => {
  test("writes, reads, deletes, leaves nothing and is recorded", async () => {
    const { app, storages, store, preflight, read, change } = await scene();
    await change({ pathPrefix: "deep/down" });
    app.world.clock.advance(1_000);
    expect(await preflight()).toEqual({ ok: true });
    expect(await read()).toMatchObject({
      lastVerifiedAt: app.world.clock.now().toISOString(),
      lastVerifyError: null,
      updatedAt: (await read()).createdAt,
    });
    expect([store.objects.size, storages.opened]).toEqual([0, 0]);
  });

  test.each([
    [{ open: failure("auth_failed") }, "auth_failed", "write: "],
    [{ put: failure("permission_denied") }, "permission_denied", "write: "],
    [{ put: failure("not_found") }, "not_found", "write: "],
    [{ put: failure("storage_full") }, "misconfigured", "write: "],
    [{ put: failure("something new") }, "unreachable", "write: "],
    [{ get: failure("permission_denied") }, "permission_denied", "read: "],
    [{ remove: failure("permission_denied") }, "permission_denied", "delete: "],
    [{ stat: failure("permission_denied") }, "permission_denied", "delete: "],
  ] as [MemoryFaults, string, string][])("%j fails with %s at %s", async (faults, code, step) => {
    const { storages, preflight, read } = await scene();
    expect(await preflight()).toEqual({ ok: true });
    const { lastVerifiedAt } = await read();
    storages.break("backups", faults);
    const outcome = await preflight();
    expect(outcome).toMatchObject({ ok: false, code });
    expect(outcome.reason).toStartWith(step);
    expect(await read()).toMatchObject({ lastVerifiedAt, lastVerifyError: outcome.reason });
    storages.break("backups", {});
    expect(await preflight()).toEqual({ ok: true });
    expect((await read()).lastVerifyError).toBeNull();
    expect(storages.opened).toBe(0);
  });

  test("a probe that comes back changed or not at all is corrupt", async () => {
    const { store, preflight } = await scene();
    const get = store.get.bind(store);
    store.get = async () => textBody("something else");
    expect(await preflight()).toMatchObject({ ok: false, code: "corrupt", reason: expect.stringMatching(/^read: /) });
    store.get = async (...args) => {
      await get(...args);
      return undefined;
    };
    expect(await preflight()).toMatchObject({ ok: false, code: "corrupt" });
    expect(store.objects.size).toBe(0);
  });

  test("a probe that could not be removed is removed by the next run, at once", async () => {
    const { storages, store, preflight } = await scene();
    storages.break("backups", { remove: failure("permission_denied") });
    expect(await preflight()).toMatchObject({ ok: false, reason: expect.stringMatching(/^delete: /) });
    expect(store.objects.size).toBe(1);
    storages.break("backups", {});
    expect(await preflight()).toEqual({ ok: true });
    expect(store.objects.size).toBe(0);
  });

  test("probes of killed runs are removed once they are old, those of running ones are not", async () => {
    const { app, store, preflight } = await scene();
    const now = app.world.clock.now();
    const [old, fresh] = [probeKey(new Date(now.getTime() - 120_000)), probeKey(now)];
    const foreign = ".slipway-probe-no-such-name";
    for (const key of [old, fresh, foreign, "backup.tar"]) await store.put(key, textBody("x"));
    store.left.set(old, now).set(fresh, now);
    expect(await preflight()).toEqual({ ok: true });
    expect([...store.objects.keys()].toSorted()).toEqual([fresh, foreign, "backup.tar"].toSorted());
    expect([...store.left.keys()]).toEqual([fresh]);
  });

  test.each([
    ["the whole bucket", null, 7],
    ["a folder of it", "deep/down", 1],
  ] as const)(
    "what killed writers left in %s is removed once nothing was added to it for days",
    async (_, pathPrefix, days) => {
      const { app, store, preflight } = await scene({ ...S3, pathPrefix });
      const daysAgo = (number: number) => new Date(app.world.clock.now().getTime() - number * 86_400_000);
      const at = (key: string) => (pathPrefix === null ? key : `${pathPrefix}/${key}`);
      store.left.set(at("old.tar"), daysAgo(days + 0.1)).set(at("fresh.tar"), daysAgo(days - 0.1));
      if (pathPrefix !== null) store.left.set("not-ours.tar", daysAgo(days + 0.1));
      const kept = [...(pathPrefix === null ? [] : ["not-ours.tar"]), at("fresh.tar")].toSorted();
      // Testing a draft removes nothing that it did not create.
      await app.call("POST", `${PATH}/preflight`, { token: app.owner, body: { ...S3, pathPrefix } });
      expect(store.left.has(at("old.tar"))).toBe(true);
      expect(await preflight()).toEqual({ ok: true });
      expect([...store.left.keys()].toSorted()).toEqual(kept);
    },
  );

  test("a store whose abandoned writes cannot be listed, or not in time, still passes", async () => {
    const { app, storages, preflight } = await scene();
    storages.break("backups", { sweep: failure("permission_denied") });
    expect(await preflight()).toEqual({ ok: true });
    storages.break("backups", { sweep: "hangs" });
    const probe = runProbe({ ...app.world, probeLimits: { ...PROBE_LIMITS, sweepMs: 20 } });
    const { outcome } = await probe({ open: await opener(app), leftProbes: [], abandonedBefore: new Date() });
    expect(outcome).toEqual({ ok: true });
    expect(storages.opened).toBe(0);
  });

  test("a store that may not be listed still passes", async () => {
    const { storages, preflight } = await scene();
    storages.break("backups", { list: failure("permission_denied"), unfinished: failure("permission_denied") });
    expect(await preflight()).toEqual({ ok: true });
  });

  test("many at once do not disturb each other", async () => {
    const { store, preflight } = await scene();
    const outcomes = await Promise.all(Array.from({ length: 20 }, preflight));
    expect(outcomes).toEqual(outcomes.map(() => ({ ok: true })));
    expect(store.objects.size).toBe(0);
  });

  test("the first host key that worked is pinned, another one is refused", async () => {
    const { storages, preflight, read, change } = await scene(SFTP);
    storages.showKey(BOX, KEY);
    expect(await preflight()).toEqual({ ok: true });
    expect(await read()).toMatchObject({ sshHostKey: KEY });
    storages.showKey(BOX, `SHA256:${"B".repeat(42)}A`);
    expect(await preflight()).toMatchObject({ ok: false, code: "host_key_changed" });
    await change({ sshHostKey: null });
    expect(await preflight()).toEqual({ ok: true });
  });

  test("a server's own connection, folder and key are used, and its first key is pinned on it", async () => {
    const app = await memoryApp();
    const server = (await app.call("POST", "/api/servers", { token: app.owner, body: SERVER })).body.data;
    const body = { name: "S", kind: "platform_server", serverId: server.id };
    const { id } = (await app.call("POST", PATH, { token: app.owner, body })).body.data;
    app.world.objectStorages.showKey("deploy@berlin.example.com/.slipway/backups", KEY);
    expect(await acts(app, id).preflight()).toEqual({ ok: true });
    const after = (await app.call("GET", `/api/servers/${server.id}`, { token: app.owner })).body.data;
    expect(after.hostKey).toBe(KEY);
    expect(await acts(app, id).read()).toMatchObject({ sshHostKey: null });
    await app.call("DELETE", `/api/servers/${server.id}`, { token: app.owner });
    expect(await acts(app, id).preflight()).toMatchObject({ ok: false, code: "misconfigured" });
  });

  test("a draft is tested, and nothing is stored", async () => {
    const { app, storages } = await scene(SFTP);
    const { token } = await member(app, "admin");
    const draft = () => app.call("POST", `${PATH}/preflight`, { token, body: { ...S3, name: undefined } });
    expect((await draft()).body).toEqual({ ok: true });
    storages.break("backups", { put: failure("auth_failed") });
    expect((await draft()).body).toMatchObject({ ok: false, code: "auth_failed" });
    expect((await app.call("GET", PATH, { token })).body.total).toBe(1);
  });

  test("a destination that is opened for backups uses the prefix", async () => {
    const { app, store } = await scene();
    const open = await opener(app, { input: { pathPrefix: "deep/down" } });
    await using storage = await open();
    await storage.put("a.tar", textBody("backup"));
    expect([...store.objects.keys()]).toEqual(["deep/down/a.tar"]);
    expect((await storage.list("")).objects).toMatchObject([{ key: "a.tar", bytes: 6 }]);
  });

  test.each(["get", "stat", "remove"] as const)("a %s that fails once and then works passes", async (operation) => {
    const { store, preflight } = await scene();
    const work = store[operation].bind(store) as (...given: unknown[]) => Promise<unknown>;
    let calls = 0;
    Object.assign(store, {
      [operation]: async (...given: unknown[]) => {
        if (calls++ < 1) throw failure("unreachable");
        return work(...given);
      },
    });
    expect(await preflight()).toEqual({ ok: true });
    expect(calls).toBeGreaterThan(1);
  });

  test.each(["auth_failed", "unreachable"])("opening that fails with %s is tried once", async (code) => {
    const { storages, preflight } = await scene();
    const open = storages.open.bind(storages);
    let opened = 0;
    storages.open = (...given) => {
      opened++;
      return open(...given);
    };
    storages.break("backups", { open: failure(code) });
    expect(await preflight()).toMatchObject({ ok: false, code });
    expect(opened).toBe(1);
  });

  test.each(["get", "stat", "remove"] as const)(
    "a %s that is refused with auth_failed is tried once",
    async (operation) => {
      const { store, preflight } = await scene();
      const keys: string[] = [];
      store[operation] = async (key: string) => {
        keys.push(key);
        throw failure("auth_failed");
      };
      expect(await preflight()).toMatchObject({ ok: false, code: "auth_failed" });
      // For `remove`, the second call is the cleanup.
      expect(keys.length).toBe(operation === "remove" ? 2 : 1);
    },
  );

  test("a store that does nothing for longer than backups wait ends with timeout", async () => {
    const { app, storages } = await scene();
    storages.break("backups", { stat: "hangs" });
    const probe = runProbe({ ...app.world, probeLimits: PROBE_LIMITS });
    const { outcome } = await probe({
      open: await opener(app, { idleMs: 1_000 }),
      leftProbes: [],
      abandonedBefore: null,
    });
    expect(outcome).toMatchObject({
      ok: false,
      code: "timeout",
      reason: expect.stringMatching(/^delete: .*did not respond/),
    });
  });

  test.concurrent.each(["open", "put", "get", "remove"] as const)(
    "one whose %s hangs ends with timeout, in time",
    async (operation) => {
      const { app, storages } = await scene();
      storages.break("backups", { [operation]: "hangs" });
      const probe = runProbe({ ...app.world, probeLimits: { stepsMs: 1_500, sweepMs: 1_000, clearMs: 1_000 } });
      const { outcome, leftProbes } = await probe({
        open: await opener(app),
        leftProbes: ["x"],
        abandonedBefore: null,
      });
      expect(outcome).toMatchObject({ ok: false, code: "timeout" });
      expect(leftProbes.length).toBe(operation === "remove" ? 2 : 1);
      expect(storages.opened).toBe(0);
    },
  );

  test("is aborted when the caller disconnects", async () => {
    const { app, storages } = await scene();
    storages.break("backups", { get: "hangs" });
    const leaving = new AbortController();
    const run = runProbe(app.world)({ open: await opener(app), leftProbes: [], abandonedBefore: null }, leaving.signal);
    run.catch(() => {});
    const reason = new Error("Gone");
    leaving.abort(reason);
    await expect(run).rejects.toBe(reason);
  });
});
