import { describe, expect, test } from "bun:test";
import type { AuthContext } from "ssh2";
import { SftpObjectStorages } from "../../adapters/ssh/sftp/object_storages.ts";
import type { ObjectStorages } from "../../ports/backups/object_storages.ts";
import { member, memoryApp } from "../support/apps/app.ts";
import { keyPair } from "../support/inputs/key_pair.ts";
import { scriptedSshd } from "../support/faults/scripted_sshd.ts";

const PATH = "/api/backup-destinations";
const KEY = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
const OTHER_KEY = `SHA256:${"B".repeat(42)}A`;
const SFTP = { name: "Box", kind: "sftp", sshHost: "box.example.com", sshUser: "me", sftpPassword: "canary-password" };
const BOX = "me@box.example.com/";
const S3 = {
  name: "Nightly",
  kind: "s3_compatible",
  bucket: "backups",
  endpoint: "https://s3.example.com/base",
  accessKeyId: "canary-id",
  secretAccessKey: "canary-secret",
};

/** An application with one destination. */
async function scene(body: object, objectStorages?: ObjectStorages) {
  const app = await memoryApp({}, () => (objectStorages ? { objectStorages } : {}));
  const made = await app.call("POST", PATH, { token: app.owner, body });
  expect(made.status).toBe(201);
  const path = `${PATH}/${made.body.data.id}`;
  return {
    app,
    id: made.body.data.id as string,
    read: async () => (await app.call("GET", path, { token: app.owner })).body.data,
    change: (patch: object, token = app.owner) => app.call("PATCH", path, { token, body: patch }),
    preflight: async () => (await app.call("POST", `${path}/preflight`, { token: app.owner })).body,
  };
}

/** An SSH server that refuses every login and records the credentials. */
async function curiousSshd() {
  const seen: string[] = [];
  const login = (attempt: AuthContext) => {
    if (attempt.method === "password") seen.push(attempt.password);
    if (attempt.method === "publickey") seen.push(attempt.key.data.toString("base64"));
    attempt.reject(["password", "publickey"]);
  };
  const server = await scriptedSshd({ login });
  const { host, port } = server.target;
  return { seen, at: { sshHost: host, sshPort: port }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const overSsh = () => new SftpObjectStorages() as ObjectStorages;

/** The response of a preflight that requires some fields again. */
function asksFor(...fields: readonly string[]) {
  const names = fields.map((field) => `(?=.*"${field}")`).join("");
  return {
    ok: false,
    code: "misconfigured",
    reason: expect.stringMatching(new RegExp(`^write: Cannot ${names}.*again`)),
  };
}

describe("a stored SFTP password or key", () => {
  test("is sent to the host it was given for, and to no other", async () => {
    await using first = await curiousSshd();
    await using second = await curiousSshd();
    const { change, preflight, read } = await scene({ ...SFTP, ...first.at }, overSsh());
    expect(await preflight()).toMatchObject({ code: "auth_failed" });
    expect(first.seen).toEqual(["canary-password"]);

    const moved = await change(second.at);
    expect(moved.body.data).toMatchObject({ hasSftpPassword: true, lastVerifyError: null });
    const refused = await preflight();
    expect(refused).toEqual(asksFor("sftpPassword"));
    expect((await read()).lastVerifyError).toBe(refused.reason);
    expect(JSON.stringify(refused)).not.toContain("canary");
    expect(second.seen).toEqual([]);

    await change(first.at);
    expect(await preflight()).toMatchObject({ code: "auth_failed" });
    expect(first.seen).toEqual(["canary-password", "canary-password"]);

    await change({ ...second.at, sftpPassword: "second-password" });
    expect(await preflight()).toMatchObject({ code: "auth_failed" });
    expect(second.seen).toEqual(["second-password"]);
    await change(first.at);
    expect(await preflight()).toEqual(asksFor("sftpPassword"));
    expect(first.seen).toHaveLength(2);
    await change({ sftpPassword: "third-password" });
    expect(await preflight()).toMatchObject({ code: "auth_failed" });
    expect(first.seen.at(-1)).toBe("third-password");
  });

  test("is bound to the port as well, and a private key like a password", async () => {
    await using first = await curiousSshd();
    await using second = await curiousSshd();
    const { private: sftpPrivateKey, public: line } = keyPair("phrase");
    const secrets = { sftpPassword: null, sftpPrivateKey, sftpKeyPassphrase: "phrase" };
    const { change, preflight } = await scene({ ...SFTP, ...secrets, ...first.at }, overSsh());
    expect(await preflight()).toMatchObject({ code: "auth_failed" });
    expect(first.seen).toEqual([line.split(" ")[1]!]);
    await change({ sshPort: second.at.sshPort });
    expect(await preflight()).toEqual(asksFor("sftpPrivateKey"));
    expect(second.seen).toEqual([]);
    await change({ sftpPassword: "second-password" });
    expect(await preflight()).toMatchObject({ code: "auth_failed" });
    expect(second.seen).toEqual(["second-password"]);
    await change({ sftpPassword: null });
    expect(await preflight()).toEqual(asksFor("sftpPrivateKey"));
    await change({ sftpPrivateKey });
    expect(await preflight()).toMatchObject({ code: "auth_failed" });
    expect(second.seen).toEqual(["second-password", line.split(" ")[1]!]);
  });

  test("stays valid when its host is spelled differently, or anything else changes", async () => {
    const { change, preflight } = await scene(SFTP);
    for (const patch of [{ sshHost: "BOX.example.com" }, { sshPort: 22 }, { sshPort: null }, { pathPrefix: "a" }]) {
      expect((await change(patch)).status).toBe(200);
      expect([patch, await preflight()]).toEqual([patch, { ok: true }]);
    }
  });

  test("that is replaced together with the host during a preflight is not sent to the former host", async () => {
    await using first = await curiousSshd();
    await using second = await curiousSshd();
    const app = await memoryApp({}, () => ({ objectStorages: overSsh() }));
    const body = { ...SFTP, ...first.at };
    const { id } = (await app.call("POST", PATH, { token: app.owner, body })).body.data;
    const { backupDestinations } = app.world;
    const find = backupDestinations.find.bind(backupDestinations);
    let changes = 0;
    backupDestinations.find = async (...given) => {
      const found = await find(...given);
      const patch = { ...second.at, sftpPassword: "second-password" };
      if (changes++ === 0) await app.call("PATCH", `${PATH}/${id}`, { token: app.owner, body: patch });
      return found;
    };
    await app.call("POST", `${PATH}/${id}/preflight`, { token: app.owner });
    expect([first.seen, second.seen]).toEqual([[], ["second-password"]]);
  });
});

describe("stored keys of a bucket", () => {
  test("are valid for one endpoint: its scheme, host and port", async () => {
    const { change, preflight } = await scene(S3);
    expect(await preflight()).toEqual({ ok: true });
    for (const endpoint of [
      "http://s3.example.com",
      "https://s3.example.com:8443",
      "https://other.example.com",
      null,
    ]) {
      await change({ endpoint });
      expect([endpoint, await preflight()]).toEqual([endpoint, asksFor("accessKeyId", "secretAccessKey")]);
    }
    await change({ secretAccessKey: "new" });
    expect(await preflight()).toEqual(asksFor("accessKeyId"));
    await change({ endpoint: "https://s3.example.com" });
    expect(await preflight()).toEqual(asksFor("secretAccessKey"));
    await change({ accessKeyId: "new", secretAccessKey: "new" });
    expect(await preflight()).toEqual({ ok: true });
  });

  test("stay valid in another bucket, region or folder of the same store", async () => {
    const { change, preflight } = await scene(S3);
    const patches = [
      { endpoint: "HTTPS://S3.example.com:443/" },
      { region: "x" },
      { bucket: "y-y" },
      { pathPrefix: "p" },
    ];
    for (const patch of patches) {
      await change(patch);
      expect([patch, await preflight()]).toEqual([patch, { ok: true }]);
    }
  });
});

/** A destination whose host key was recorded by a preflight, and a token that may change it but is no admin's. */
async function pinned() {
  const made = await scene(SFTP);
  made.app.world.objectStorages.showKey(BOX, KEY);
  expect(await made.preflight()).toEqual({ ok: true });
  const grants = [{ resource: "backup_destination", id: made.id, action: "write" }];
  const { token } = await member(made.app, "restricted", { grants });
  return { ...made, token };
}

describe("a recorded host key", () => {
  test.each([{ sshHostKey: null }, { sshHostKey: OTHER_KEY }, { sshHost: "new.example.com" }, { sshPort: 2222 }])(
    "is dropped or changed by %j only with backup_destination:admin",
    async (patch) => {
      const { read, change, token } = await pinned();
      const before = await read();
      const refused = await change(patch, token);
      expect([refused.status, refused.body.error]).toEqual([
        403,
        expect.stringContaining('"backup_destination:admin"'),
      ]);
      expect(await read()).toEqual(before);
      expect((await change(patch)).body.data.sshHostKey).toBe(patch.sshHostKey ?? null);
    },
  );

  test("does not block changes that keep it, and the first one may be set with permission to write", async () => {
    const { change, token } = await pinned();
    for (const patch of [{ name: "Renamed" }, { sshHostKey: KEY }, { sshHost: "BOX.example.com" }]) {
      expect((await change(patch, token)).body.data).toMatchObject({ sshHostKey: KEY });
    }
    await change({ sshHostKey: null });
    expect((await change({ sshHostKey: OTHER_KEY }, token)).body.data.sshHostKey).toBe(OTHER_KEY);
  });

  test("that a preflight records during another change is kept", async () => {
    const { app, change, read } = await scene(SFTP);
    const { backupDestinations } = app.world;
    const find = backupDestinations.find.bind(backupDestinations);
    let found = 0;
    backupDestinations.find = async (organizationId, id) => {
      const destination = await find(organizationId, id);
      const check = { at: new Date(), error: null, hostKey: KEY, leftProbes: [] };
      if (destination && found++ === 0) await backupDestinations.checked(organizationId, destination, check);
      return destination;
    };
    expect((await change({ name: "Renamed" })).body.data).toMatchObject({ name: "Renamed", sshHostKey: KEY });
    expect(await read()).toMatchObject({ name: "Renamed", sshHostKey: KEY });
  });
});
