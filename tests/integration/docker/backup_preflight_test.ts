import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROBE_LIMITS } from "../../../application/backups/run_probe.ts";
import { MemoryNameRecords } from "../../../adapters/memory/name_records.ts";
import { partName } from "../../../domain/backups/object_key.ts";
import { probeKey } from "../../../domain/backups/probe.ts";
import { LocalHostFolders } from "../../../adapters/local/host_folders.ts";
import { openStorages } from "../../../wiring/open_world.ts";
import type { BucketTarget } from "../../../ports/backups/object_storages.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { expectHidden } from "../../support/expect_hidden.ts";
import { faultyListener } from "../../support/faults/faulty_listener.ts";
import { keyPair } from "../../support/inputs/key_pair.ts";
import { postgresApp } from "../../support/database/postgres_app.ts";
import { type S3Server, s3Server } from "../../support/peers/s3_server.ts";
import { type SshdContainer, startSshd } from "../../support/peers/sshd_container.ts";
import { tcpGate } from "../../support/faults/tcp_gate.ts";

const PATH = "/api/backup-destinations";

/** All responses, and all secrets that were used. */
const answers: string[] = [];
const secrets: Record<string, string> = {};

let app: Awaited<ReturnType<typeof postgresApp>>;
let s3: S3Server;
let sshd: SshdContainer;
let root: string;
let names = 0;
const lifetime = new AsyncDisposableStack();

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "slipway-"));
  lifetime.defer(() => rm(root, { recursive: true, force: true }));
  const settings = { mode: "self-hosted", dataFolder: join(root, "data"), backupCaFile: undefined } as const;
  const objectStorages = await openStorages(settings, new MemoryNameRecords());
  [app, s3, sshd] = await Promise.all([
    postgresApp({
      settings: { backupAllowLocal: true, backupLocalRoot: root, dataFolder: settings.dataFolder },
      replace: { objectStorages, hostFolders: new LocalHostFolders(), clock: { now: () => new Date() } },
    }),
    s3Server(),
    startSshd({ tmpfs: { "/home/bob/small": "size=64k,mode=1777" } }),
  ]);
  lifetime.use(app);
  lifetime.use(s3);
  lifetime.use(sshd);
});
afterAll(() => lifetime.disposeAsync());

async function call(method: string, path: string, body?: object) {
  const answer = await app.call(method, path, { token: app.owner, ...(body && { body }) });
  answers.push(answer.text);
  return answer;
}

/** Creates a destination; returns functions that test and read it. */
async function destination(body: Record<string, unknown>) {
  for (const [field, value] of Object.entries(body)) {
    if (/accessKey|secretAccess|sftp/i.test(field) && typeof value === "string") secrets[`${field} ${names}`] = value;
  }
  const made = await call("POST", PATH, { name: `Destination ${names++}`, ...body });
  if (made.status !== 201) throw new Error(made.text);
  const { id } = made.body.data;
  return {
    preflight: async () => (await call("POST", `${PATH}/${id}/preflight`)).body,
    read: async () => (await call("GET", `${PATH}/${id}`)).body.data,
  };
}

async function tried(body: Record<string, unknown>) {
  return (await destination(body)).preflight();
}

function bucketBody({ endpoint, bucket, accessKeyId, secretAccessKey }: BucketTarget) {
  const keys = { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() };
  return { kind: "s3_compatible", endpoint, bucket, ...keys };
}

function boxBody({ host, port, user, password, privateKey, keyPassphrase }: RemoteTarget) {
  return {
    kind: "sftp",
    sshHost: host,
    sshPort: port,
    sshUser: user,
    sftpPassword: password?.reveal() ?? null,
    sftpPrivateKey: privateKey?.reveal() ?? null,
    sftpKeyPassphrase: keyPassphrase?.reveal() ?? null,
  };
}

/** A storage that starts a response and then sends a byte now and then. */
function slowAnswer() {
  const timers = new Set<Timer>();
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.write("HTTP/1.1 200 OK\r\nx-slow: ");
        timers.add(setInterval(() => socket.write("a"), 200));
      },
      data() {},
      error() {},
    },
  });
  return {
    port: listener.port,
    [Symbol.dispose]() {
      timers.forEach(clearInterval);
      listener.stop(true);
    },
  };
}

/** The response of a failed preflight. */
function red(code: string, step: string, words = "") {
  return { ok: false, code, reason: expect.stringMatching(new RegExp(`^${step}: Cannot .*${words}`)) };
}

describe("preflight of a bucket", () => {
  test("an empty bucket passes, with and without a prefix", async () => {
    const body = bucketBody(await s3.bucket());
    expect(await tried(body)).toEqual({ ok: true });
    const { preflight, read } = await destination({ ...body, pathPrefix: "deep/down ä", region: "eu-central-1" });
    expect(await preflight()).toEqual({ ok: true });
    expect(await read()).toMatchObject({ lastVerifyError: null, lastVerifiedAt: expect.any(String) });
  });

  test("wrong key, wrong secret and a bucket that does not exist", async () => {
    const body = bucketBody(await s3.bucket());
    expect(await tried({ ...body, accessKeyId: "canary-no-such-key" })).toEqual(
      red("auth_failed", "write", "accessKeyId"),
    );
    const wrong = { ...body, secretAccessKey: "canary-wrong-secret" };
    expect(await tried(wrong)).toEqual(red("auth_failed", "write", "secretAccessKey"));
    expect(await tried({ ...body, bucket: "no-such-bucket" })).toEqual(red("not_found", "write", "bucket"));
  });

  test.each([
    [["s3:ListBucket"], "write", "s3:PutObject"],
    [["s3:PutObject", "s3:GetObject", "s3:ListBucket"], "delete", "s3:DeleteObject"],
    [["s3:PutObject", "s3:DeleteObject", "s3:ListBucket"], "read", "s3:GetObject"],
  ] as const)("only %j fails at %s and names %s", async (rights, step, missing) => {
    const body = bucketBody(await s3.limited(await s3.bucket(), rights));
    expect(await tried(body)).toEqual(red("permission_denied", step, missing));
  });

  test("the permissions in the documentation are sufficient", async () => {
    const rights = ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:ListBucket"] as const;
    expect(await tried(bucketBody(await s3.limited(await s3.bucket(), rights)))).toEqual({ ok: true });
  });

  test("a name that does not resolve, a closed port, and a server that is not S3", async () => {
    const body = bucketBody(await s3.bucket());
    const unresolved = { ...body, endpoint: "http://no-such-host.invalid" };
    expect(await tried(unresolved)).toEqual(red("unreachable", "write", "resolved"));
    const closed = faultyListener("closing");
    closed[Symbol.dispose]();
    const refused = { ...body, endpoint: `http://127.0.0.1:${closed.port}` };
    expect(await tried(refused)).toEqual(red("unreachable", "write", "refused"));
    using web = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("<h1>Hello</h1>") });
    expect(await tried({ ...body, endpoint: `http://127.0.0.1:${web.port}` })).toMatchObject({ ok: false });
  });

  test("a probe that a killed run left is removed, a fresh one is not", async () => {
    const target = await s3.bucket();
    const sdk = await import("@aws-sdk/client-s3");
    const client = await s3.client(target);
    const [old, fresh] = [probeKey(new Date(Date.now() - 120_000)), probeKey(new Date())];
    for (const Key of [old, fresh])
      await client.send(new sdk.PutObjectCommand({ Bucket: target.bucket, Key, Body: new Uint8Array(3) }));
    expect(await tried(bucketBody(target))).toEqual({ ok: true });
    const { Contents = [] } = await client.send(new sdk.ListObjectsV2Command({ Bucket: target.bucket }));
    expect(Contents.map(({ Key }) => Key)).toEqual([fresh]);
  });

  test("twenty at once all pass and leave nothing", async () => {
    const target = await s3.bucket();
    const { preflight } = await destination(bucketBody(target));
    const outcomes = await Promise.all(Array.from({ length: 20 }, preflight));
    expect(outcomes).toEqual(outcomes.map(() => ({ ok: true })));
    const sdk = await import("@aws-sdk/client-s3");
    const { KeyCount } = await (await s3.client(target)).send(new sdk.ListObjectsV2Command({ Bucket: target.bucket }));
    expect(KeyCount).toBe(0);
  });
});

describe("preflight of an SFTP server", () => {
  test("by password, by key, by key with a passphrase, and in a jail without a shell", async () => {
    for (const body of [boxBody(sshd.alice), boxBody(sshd.bob), boxBody(sshd.protectedBob)]) {
      const { preflight, read } = await destination({ ...body, pathPrefix: "made/when needed" });
      expect(await preflight()).toEqual({ ok: true });
      expect(await read()).toMatchObject({ sshHostKey: expect.stringMatching(/^SHA256:/) });
    }
    expect(await tried({ ...boxBody(sshd.gina), pathPrefix: "upload" })).toEqual({ ok: true });
    expect(await sshd.exec(["find", "/home", "/srv/jail", "-name", "*slipway-p*"])).toBe("");
  });

  test("wrong password, unknown key, an invalid key, a missing passphrase", async () => {
    const wrong = { ...boxBody(sshd.alice), sftpPassword: "canary-wrong-password" };
    expect(await tried(wrong)).toEqual(red("auth_failed", "write"));
    const unknown = { ...boxBody(sshd.bob), sftpPrivateKey: keyPair().private };
    expect(await tried(unknown)).toEqual(red("auth_failed", "write"));
    const nonsense = { ...boxBody(sshd.bob), sftpPrivateKey: "canary-nonsense-key" };
    expect(await tried(nonsense)).toEqual(red("misconfigured", "write"));
    const locked = { ...boxBody(sshd.protectedBob), sftpKeyPassphrase: null };
    expect(await tried(locked)).toEqual(red("misconfigured", "write", "passphrase"));
  });

  test("a read-only folder, and a full disk", async () => {
    expect(await tried({ ...boxBody(sshd.gina), pathPrefix: "locked" })).toEqual(red("permission_denied", "write"));
    expect(await tried(boxBody(sshd.gina))).toEqual(red("permission_denied", "write"));
    await sshd.exec(["sh", "-c", "head -c 1000000 /dev/zero > /home/bob/small/full 2>/dev/null || true"]);
    const full = { ...boxBody(sshd.bob), pathPrefix: "small" };
    expect(await tried(full)).toEqual(red("misconfigured", "write", "disk there is full"));
    expect((await sshd.exec(["ls", "-A", "/home/bob/small"])).trim()).toBe("full");
  });

  test("leftovers of a broken connection are removed by the next run", async () => {
    const old = partName(probeKey(new Date(Date.now() - 120_000)));
    await sshd.exec([
      "sh",
      "-c",
      `mkdir -p /home/bob/left && touch "/home/bob/left/${old}" && chown -R bob /home/bob/left`,
    ]);
    expect(await tried({ ...boxBody(sshd.bob), pathPrefix: "left" })).toEqual({ ok: true });
    expect(await sshd.exec(["ls", "-A", "/home/bob/left"])).toBe("");
  });

  test("leftovers of killed uploads are removed a day later, in every folder", async () => {
    const [old, fresh] = [partName("backup.tar"), partName("backup.tar")];
    const script = `mkdir -p /home/bob/swept/deep && cd /home/bob/swept/deep && touch "$1" && touch -d "-2 days" "$2" &&
      chown -R bob /home/bob/swept`;
    await sshd.exec(["sh", "-c", script, "sh", fresh, old]);
    const { preflight } = await destination({ ...boxBody(sshd.bob), pathPrefix: "swept" });
    expect(await preflight()).toEqual({ ok: true });
    expect((await sshd.exec(["ls", "-A", "/home/bob/swept/deep"])).trim()).toBe(fresh);
  });

  test("a name that does not resolve, a port that is closed", async () => {
    const unresolved = { ...boxBody(sshd.bob), sshHost: "no-such-host.invalid" };
    expect(await tried(unresolved)).toEqual(red("unreachable", "write", "resolved"));
    const closed = faultyListener("closing");
    closed[Symbol.dispose]();
    const refused = { ...boxBody(sshd.bob), sshHost: "127.0.0.1", sshPort: closed.port };
    expect(await tried(refused)).toEqual(red("unreachable", "write", "refused"));
  });

  test("a server's own connection, then a changed host key, for both kinds", async () => {
    const { host, port, user, privateKey } = sshd.bob;
    const server = { name: "Second", sshHost: host, sshPort: port, sshUser: user, sshPrivateKey: privateKey!.reveal() };
    const { id } = (await call("POST", "/api/servers", server)).body.data;
    const onServer = await destination({ kind: "platform_server", serverId: id, pathPrefix: "nightly" });
    const box = await destination(boxBody(sshd.bob));
    expect(await onServer.preflight()).toEqual({ ok: true });
    expect(await box.preflight()).toEqual({ ok: true });
    const { hostKey } = (await call("GET", `/api/servers/${id}`)).body.data;
    expect(hostKey).toMatch(/^SHA256:/);
    expect(await sshd.exec(["ls", "-A", "/home/bob/.slipway/backups"])).toBe("nightly\n");
    await sshd.exec(["change-host-keys"]);
    for (const { preflight } of [onServer, box]) {
      const outcome = await preflight();
      expect(outcome).toMatchObject({ ok: false, code: "host_key_changed" });
      expect(outcome.reason).toContain(hostKey);
    }
    expect((await onServer.read()).lastVerifyError).toContain("write: ");
  });
});

test("preflight of a folder of this machine creates it, and leaves it empty", async () => {
  const { preflight } = await destination({ kind: "local", endpoint: join(root, "new/folder"), pathPrefix: "p" });
  expect(await preflight()).toEqual({ ok: true });
  expect(await readdir(join(root, "new/folder/p"))).toEqual([]);
});

test("an operation that hangs ends with timeout", async () => {
  expect(PROBE_LIMITS.stepsMs + PROBE_LIMITS.clearMs).toBeLessThan(30_000);
  using silent = faultyListener("silent");
  using dripping = faultyListener("dripping");
  using drippingStore = slowAnswer();
  await using gate = await tcpGate(Number(new URL(s3.url).port));
  const bucket = { ...bucketBody(await s3.bucket()), endpoint: `http://127.0.0.1:${gate.port}` };
  const box = boxBody(sshd.alice);
  const stopped = [await destination(bucket), await destination(box)];
  for (const { preflight } of stopped) expect(await preflight()).toEqual({ ok: true });
  gate.freeze();
  await sshd.pause();
  try {
    const buckets = [silent, drippingStore].map(({ port }) => ({ ...bucket, endpoint: `http://127.0.0.1:${port}` }));
    const boxes = [silent, dripping].map(({ port }) => ({ ...box, sshHost: "127.0.0.1", sshPort: port }));
    const hanging = await Promise.all([...buckets, ...boxes].map(destination));
    const outcomes = await Promise.all([...stopped, ...hanging].map(({ preflight }) => preflight()));
    expect(outcomes).toEqual(outcomes.map(() => red("timeout", "write")));
  } finally {
    gate.thaw();
    await sshd.unpause();
  }
  for (const { preflight } of stopped) expect(await preflight()).toEqual({ ok: true });
});

test("no secret is in the database, in a response or in the log", async () => {
  const { sql } = app.world.database;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`;
  const dump: string[] = [];
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`select to_jsonb(t)::text as row from ${sql(name)} as t`;
    dump.push(...rows.map(({ row }) => row));
  }
  expect(dump.some((row) => row.includes("sealed_secret_access_key"))).toBe(true);
  expect(Object.keys(secrets).length).toBeGreaterThan(20);
  const log = app.world.log.lines.map(({ text }) => text);
  const long = Object.fromEntries(Object.entries(secrets).filter(([, secret]) => secret.length >= 8));
  expectHidden([...dump, ...answers, ...log].join("\n"), long);
});
