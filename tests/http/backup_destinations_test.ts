import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import { member, memoryApp, type TestApp } from "../support/apps/app.ts";
import { SERVER } from "../support/apps/furnished.ts";

const PATH = "/api/backup-destinations";
const KEY = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
const S3 = {
  name: "Nightly",
  kind: "s3_compatible",
  bucket: "backups",
  accessKeyId: "canary-id",
  secretAccessKey: "canary-secret",
};
const SFTP = { name: "Box", kind: "sftp", sshHost: "box.example.com", sshUser: "me", sftpPassword: "canary-password" };
const LOCAL = { name: "Disk", kind: "local", endpoint: "/backups/a" };
const ALLOWED = { backupAllowLocal: true, backupLocalRoot: "/backups" };

/** For tests whose requests are all refused. */
const untouched = memoryApp(ALLOWED);

const create = ({ call, owner }: TestApp, body: object, token = owner) => call("POST", PATH, { token, body });

/** An application with one destination. */
async function scene(body: object = S3) {
  const app = await memoryApp(ALLOWED);
  const made = await create(app, body);
  expect(made.status).toBe(201);
  const path = `${PATH}/${made.body.data.id}`;
  return {
    app,
    data: made.body.data,
    read: async () => (await app.call("GET", path, { token: app.owner })).body.data,
    change: (patch: unknown, token = app.owner) => app.call("PATCH", path, { token, body: patch }),
  };
}

describe(`POST ${PATH}`, () => {
  test("records a destination and shows its secrets only as flags", async () => {
    const { app, data } = await scene({ ...S3, name: " Nightly ", pathPrefix: "a//b/./c/", isDefault: true });
    expect(data).toEqual({
      id: expect.stringMatching(/^bkd_[0-9a-z]{26}$/),
      name: "Nightly",
      kind: "s3_compatible",
      endpoint: null,
      region: null,
      bucket: "backups",
      forcePathStyle: false,
      pathPrefix: "a/b/c",
      sshHost: null,
      sshPort: null,
      sshUser: null,
      sshHostKey: null,
      serverId: null,
      isDefault: true,
      hasAccessKeyId: true,
      hasSecretAccessKey: true,
      hasSftpPassword: false,
      hasSftpPrivateKey: false,
      hasSftpKeyPassphrase: false,
      lastVerifiedAt: null,
      lastVerifyError: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const list = await app.call("GET", PATH, { token: app.owner });
    expect(list.body).toEqual({ data: [data], total: 1, page: 1, perPage: 50 });
    const log = app.world.log.lines.map(({ text }) => text).join();
    for (const text of [JSON.stringify(data), list.text, log]) expect(text).not.toContain("canary");
  });

  test("accepts every kind with the fields it needs, and absent fields as null", async () => {
    const app = await memoryApp(ALLOWED);
    const serverId = (await app.call("POST", "/api/servers", { token: app.owner, body: SERVER })).body.data.id;
    for (const [body, view] of [
      [
        { ...SFTP, sshPort: 2222, sshHostKey: KEY },
        { sshPort: 2222, sshHostKey: KEY, hasSftpPassword: true },
      ],
      [{ ...SFTP, name: "Key", sftpPassword: null, sftpPrivateKey: "k", sftpKeyPassphrase: "p" }, { sshPort: 22 }],
      [{ name: "Server", kind: "platform_server", serverId, bucket: null }, { serverId }],
      [
        { ...LOCAL, endpoint: "/backups//a/" },
        { endpoint: "/backups/a", forcePathStyle: null },
      ],
      [
        { ...S3, endpoint: "HTTPS://S3.Example.com/" },
        { endpoint: "https://s3.example.com", forcePathStyle: true },
      ],
    ] as const) {
      const { status, body: answer } = await create(app, body);
      expect([status, answer.data]).toMatchObject([201, view]);
    }
  });

  test.each([
    [{ ...S3, kind: "http_upload" }, "kind"],
    [{ ...S3, kind: "ftp" }, "kind"],
    [{ ...S3, kind: "__proto__" }, "kind"],
    [{ ...S3, kind: undefined }, "kind"],
    [{ ...S3, name: undefined }, "name"],
    [{ ...S3, name: "  " }, "name"],
    [{ ...S3, name: "x".repeat(81) }, "name"],
    [{ ...S3, name: "a\u0007b" }, "name"],
    [{ ...S3, bucket: undefined }, "bucket"],
    [{ ...S3, bucket: "" }, "bucket"],
    [{ ...S3, bucket: "-x" }, "bucket"],
    [{ ...S3, bucket: "a/../b" }, "bucket"],
    [{ ...S3, bucket: "a\nb" }, "bucket"],
    [{ ...S3, accessKeyId: null }, "accessKeyId"],
    [{ ...S3, secretAccessKey: undefined }, "secretAccessKey"],
    [{ ...S3, secretAccessKey: "" }, "secretAccessKey"],
    [{ ...S3, region: "eu.evil.com/#" }, "region"],
    [{ ...S3, endpoint: "s3.example.com" }, "endpoint"],
    [{ ...S3, endpoint: "ftp://s3.example.com" }, "endpoint"],
    [{ ...S3, endpoint: "https://user:canary@s3.example.com" }, "endpoint"],
    [{ ...S3, endpoint: "https://s3.example.com?x=canary" }, "endpoint"],
    [{ ...S3, endpoint: "https://s3.example.com#canary" }, "endpoint"],
    [{ ...S3, endpoint: "https://$(id).example.com" }, "endpoint"],
    [{ ...S3, forcePathStyle: "yes" }, "forcePathStyle"],
    [{ ...S3, pathPrefix: "../up" }, "pathPrefix"],
    [{ ...S3, pathPrefix: "a/../../up" }, "pathPrefix"],
    [{ ...S3, pathPrefix: "/etc" }, "pathPrefix"],
    [{ ...S3, pathPrefix: "a\nb" }, "pathPrefix"],
    [{ ...S3, pathPrefix: "-rf" }, "pathPrefix"],
    [{ ...S3, pathPrefix: "x".repeat(500) }, "pathPrefix"],
    [{ ...S3, sshHost: "box.example.com" }, "sshHost"],
    [{ ...S3, sftpPassword: "canary" }, "sftpPassword"],
    [{ ...S3, serverId: "srv_x" }, "serverId"],
    [{ ...S3, nonsense: 1 }, "nonsense"],
    [{ ...SFTP, sshHost: undefined }, "sshHost"],
    [{ ...SFTP, sshHost: "-oProxyCommand=id" }, "sshHost"],
    [{ ...SFTP, sshHost: "127.1" }, "sshHost"],
    [{ ...SFTP, sshUser: undefined }, "sshUser"],
    [{ ...SFTP, sshUser: "-l" }, "sshUser"],
    [{ ...SFTP, sshUser: "$(id)" }, "sshUser"],
    [{ ...SFTP, sshPort: 0 }, "sshPort"],
    [{ ...SFTP, sshPort: "22" }, "sshPort"],
    [{ ...SFTP, sshHostKey: "nonsense" }, "sshHostKey"],
    [{ ...SFTP, sftpPassword: undefined }, "sftpPassword"],
    [{ ...SFTP, sftpKeyPassphrase: "canary" }, "sftpKeyPassphrase"],
    [{ ...SFTP, bucket: "backups" }, "bucket"],
    [{ ...SFTP, endpoint: "https://s3.example.com" }, "endpoint"],
    [{ name: "x", kind: "platform_server" }, "serverId"],
    [{ name: "x", kind: "platform_server", serverId: "srv_nonsense" }, "serverId"],
    [{ name: "x", kind: "platform_server", serverId: `srv_${"0".repeat(26)}` }, "serverId"],
    [{ name: "x", kind: "platform_server", serverId: `srv_${"0".repeat(26)}`, sshHost: "x" }, "sshHost"],
    [{ ...LOCAL, endpoint: undefined }, "endpoint"],
    [{ ...LOCAL, endpoint: "backups/a" }, "endpoint"],
    [{ ...LOCAL, endpoint: "/elsewhere" }, "endpoint"],
    [{ ...LOCAL, endpoint: "/backupsnot" }, "endpoint"],
    [{ ...LOCAL, endpoint: "/backups/../etc" }, "endpoint"],
    [{ ...LOCAL, region: "x" }, "region"],
  ])("refuses %j and names %s", async (body, path) => {
    const answer = await create(await untouched, body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(answer.body.error).toContain(`"${path}"`);
    expect(answer.text).not.toContain("canary");
    const draft = await (await untouched).call("POST", `${PATH}/preflight`, { token: (await untouched).owner, body });
    expect(draft.status).toBe("name" in body && body.name === undefined ? 200 : 400);
  });

  test.each(["b", "ab", "_abc", "abc-", "a b"])(
    "explains for a bucket named %p what its name must be",
    async (bucket) => {
      const answer = await create(await untouched, { ...S3, bucket });
      const rule =
        "3 to 255 characters: letters, digits, dots, dashes and underscores, with a letter or digit at both ends";
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(rule)]);
    },
  );

  test.each(["pathPrefix", "bucket", "name", "secretAccessKey"])("refuses a NUL in %s", async (field) => {
    const answer = await create(await untouched, { ...S3, [field]: "a\0b" });
    expect(answer.status).toBe(400);
  });

  test("names are unique in the organization, trimmed and regardless of case, with 400", async () => {
    const { app, change } = await scene();
    const taken = await create(app, { ...S3, name: "  NIGHTLY " });
    expect([taken.status, taken.body.code, taken.body.details[0].path]).toEqual([400, "name_taken", "name"]);
    await create(app, { ...S3, name: "Other" });
    expect((await change({ name: "other" })).status).toBe(400);
    expect((await change({ name: "NIGHTLY" })).status).toBe(200);
    const raced = await Promise.all(Array.from({ length: 10 }, () => create(app, { ...S3, name: "Race" })));
    expect(raced.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(9).fill(400)]);
  });

  test("the newest default is the only one", async () => {
    const { app, read, change } = await scene({ ...S3, isDefault: true });
    const second = (await create(app, { ...S3, name: "Second", isDefault: true })).body.data;
    expect([second.isDefault, (await read()).isDefault]).toEqual([true, false]);
    expect((await change({ isDefault: true })).body.data.isDefault).toBe(true);
    expect((await app.call("GET", `${PATH}/${second.id}`, { token: app.owner })).body.data.isDefault).toBe(false);
    expect((await change({ isDefault: null })).body.data.isDefault).toBe(false);
  });

  test("a server requires the permission to write on it, and must belong to the organization", async () => {
    const app = await memoryApp();
    const serverId = (await app.call("POST", "/api/servers", { token: app.owner, body: SERVER })).body.data.id;
    const body = { name: "Server", kind: "platform_server", serverId };
    const grants = [{ resource: "backup_destination", id: "*", action: "write" }];
    const without = await member(app, "restricted", { grants });
    const refused = await create(app, body, without.token);
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('"server:write"')]);
    const more = [...grants, { resource: "server", id: serverId, action: "write" }];
    const { token } = await member(app, "restricted", { grants: more });
    expect((await create(app, body, token)).status).toBe(201);
  });
});

test("a destination whose server is gone is renamed, made the default, moved and deleted like any other", async () => {
  const app = await memoryApp();
  const server = async () =>
    (await app.call("POST", "/api/servers", { token: app.owner, body: { ...SERVER, name: crypto.randomUUID() } })).body
      .data.id;
  const gone = await server();
  const { id } = (await create(app, { name: "Server", kind: "platform_server", serverId: gone })).body.data;
  await app.call("DELETE", `/api/servers/${gone}`, { token: app.owner });
  const change = (body: object) => app.call("PATCH", `${PATH}/${id}`, { token: app.owner, body });
  const renamed = await change({ name: "Renamed", isDefault: true, pathPrefix: "nightly" });
  expect(renamed.status).toBe(200);
  expect(renamed.body.data).toMatchObject({ name: "Renamed", isDefault: true, pathPrefix: "nightly", serverId: null });
  const tried = await app.call("POST", `${PATH}/${id}/preflight`, { token: app.owner });
  expect(tried.body).toMatchObject({ ok: false, code: "misconfigured", reason: expect.stringContaining('"serverId"') });
  for (const serverId of [null, gone]) {
    const refused = await change({ serverId });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, "serverId"]);
  }
  expect((await change({ serverId: await server() })).status).toBe(200);
  expect((await app.call("POST", `${PATH}/${id}/preflight`, { token: app.owner })).body).toEqual({ ok: true });
  expect((await change({ serverId: null })).status).toBe(400);
  expect((await app.call("DELETE", `${PATH}/${id}`, { token: app.owner })).status).toBe(200);
});

describe("local destinations", () => {
  const folders = new MemoryHostFolders(["/backups/a", "/etc/cron.d", "/data/slipway/x"], {
    "/backups/out": "/etc",
    "/backups/in": "/backups/a",
    "/link": "/backups",
    "/system": "/etc",
  });
  const replace = () => ({ hostFolders: folders });

  test.each([
    ["not allowed", { backupLocalRoot: "/backups" }, "/backups/a", "BACKUP_ALLOW_LOCAL_DESTINATION"],
    ["cloud mode without other settings", { mode: "cloud" as const }, "/elsewhere", "cloud mode"],
    ["no root", { backupAllowLocal: true }, "/backups/a", "BACKUP_LOCAL_ROOT"],
    ["outside the root", ALLOWED, "/elsewhere", "in BACKUP_LOCAL_ROOT, once"],
    ["a link out of the root", ALLOWED, "/backups/out/cron.d", "in BACKUP_LOCAL_ROOT, once"],
    ["a link to a folder that does not exist yet", ALLOWED, "/backups/out/new", "in BACKUP_LOCAL_ROOT, once"],
    ["Slipway's own data", { ...ALLOWED, backupLocalRoot: "/data" }, "/data/slipway/x", "own data"],
    ["cloud mode", { ...ALLOWED, mode: "cloud" as const }, "/backups/a", "cloud mode"],
    ["a system folder as root", { ...ALLOWED, backupLocalRoot: "/etc" }, "/etc/cron.d", "folder of the system"],
    [
      "a link to a system folder as root",
      { ...ALLOWED, backupLocalRoot: "/system" },
      "/system/x",
      "folder of the system",
    ],
  ])("%s: refused", async (_, settings, endpoint, words) => {
    const app = await memoryApp(settings, replace);
    const answer = await create(app, { ...LOCAL, endpoint });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(words)]);
  });

  test.each([
    ["a folder", "/backups", "/backups/a"],
    ["a folder that does not exist yet", "/backups", "/backups/new/er"],
    ["a link that stays inside", "/backups", "/backups/in"],
    ["the root itself", "/backups", "/backups"],
    ["a root that is a link", "/link", "/link/a"],
    ["the target of such a root", "/link", "/backups/a"],
  ])("%s: accepted", async (_, backupLocalRoot, endpoint) => {
    const app = await memoryApp({ backupAllowLocal: true, backupLocalRoot }, replace);
    expect((await create(app, { ...LOCAL, endpoint })).status).toBe(201);
  });
});

describe(`PATCH ${PATH}/:id`, () => {
  test("an omitted credential stays, null clears it even if it is needed, a text replaces it", async () => {
    const { app, data, change } = await scene();
    const organizations = await app.call("GET", "/api/organizations", { token: app.owner });
    const { backupDestinations } = app.world;
    const organizationId: string = organizations.body.data[0].id;
    const stored = async () =>
      backupDestinations.credentials(organizationId, (await backupDestinations.find(organizationId, data.id))!);
    expect((await change({ name: "Renamed" })).body.data).toMatchObject({ hasAccessKeyId: true, name: "Renamed" });
    expect((await stored())?.secretAccessKey?.reveal()).toBe("canary-secret");
    const replaced = await change({ secretAccessKey: "canary-new" });
    expect((await stored())?.secretAccessKey?.reveal()).toBe("canary-new");
    const cleared = await change({ secretAccessKey: null });
    expect(cleared.body.data).toMatchObject({ hasAccessKeyId: true, hasSecretAccessKey: false });
    expect((await change({ bucket: "other" })).body.data).toMatchObject({ bucket: "other", hasSecretAccessKey: false });
    for (const { text } of [replaced, cleared]) expect(text).not.toContain("canary");
    const failed = await app.call("POST", `${PATH}/${data.id}/preflight`, { token: app.owner });
    expect(failed.body).toMatchObject({ ok: false, code: "misconfigured" });
    expect(failed.body.reason).toContain('"secretAccessKey"');
  });

  test.each([
    [S3, { kind: "s3_compatible" }],
    [S3, { kind: "sftp" }],
    [S3, { kind: null }],
    [S3, { name: null }],
    [S3, { name: " " }],
    [S3, { bucket: null }],
    [S3, { bucket: "" }],
    [S3, { pathPrefix: "../up" }],
    [S3, { endpoint: "nonsense" }],
    [S3, { sshHost: "box.example.com" }],
    [S3, { accessKeyId: "" }],
    [S3, { id: "x" }],
    [SFTP, { sshHost: null }],
    [SFTP, { sftpKeyPassphrase: "canary" }],
    [SFTP, { sshHostKey: "nonsense" }],
    [LOCAL, { endpoint: "/elsewhere" }],
    [LOCAL, { endpoint: null }],
  ])("of %j refuses %j", async (body, patch) => {
    const { read, change, data } = await scene(body);
    const answer = await change(patch);
    expect([patch, answer.status]).toEqual([patch, 400]);
    expect(answer.text).not.toContain("canary");
    expect(await read()).toEqual(data);
  });

  test("null clears optional settings, and the result is validated again", async () => {
    const { change } = await scene({ ...S3, endpoint: "https://s3.example.com", region: "x", pathPrefix: "a" });
    expect((await change({ endpoint: null, region: null, pathPrefix: null })).body.data).toMatchObject({
      endpoint: null,
      region: null,
      pathPrefix: null,
    });
    const local = await scene(LOCAL);
    const strict = await local.change({ name: "Renamed", endpoint: "/etc" });
    expect(strict.status).toBe(400);
  });

  test("another location or other credentials reset the verification, a name does not", async () => {
    const { app, data, read, change } = await scene();
    const verify = () => app.call("POST", `${PATH}/${data.id}/preflight`, { token: app.owner });
    for (const patch of [{ bucket: "others" }, { secretAccessKey: "y" }, { pathPrefix: "p" }, { accessKeyId: null }]) {
      await change({ accessKeyId: "x" });
      await verify();
      expect(
        (await change({ name: `N ${Object.keys(patch)[0]}`, isDefault: true })).body.data.lastVerifiedAt,
      ).not.toBeNull();
      expect((await change(patch)).body.data.lastVerifiedAt).toBeNull();
    }
    expect((await read()).lastVerifyError).toBeNull();
  });

  test("moving to another machine drops the recorded host key, unless a new one is sent", async () => {
    const { change } = await scene({ ...SFTP, sshHostKey: KEY });
    expect((await change({ sshUser: "you" })).body.data.sshHostKey).toBe(KEY);
    expect((await change({ sshHost: "new.example.com" })).body.data).toMatchObject({
      sshHostKey: null,
      hasSftpPassword: true,
    });
    expect((await change({ sshPort: 2222, sshHostKey: KEY })).body.data.sshHostKey).toBe(KEY);
    expect((await change({ sshPort: null })).body.data).toMatchObject({ sshPort: 22, sshHostKey: null });
  });

  test("an unknown id is not found, even if the body is invalid", async () => {
    const { app } = await scene();
    const path = `${PATH}/bkd_${"0".repeat(26)}`;
    const patched = await app.call("PATCH", path, { token: app.owner, body: { kind: "sftp", bucket: null } });
    expect([patched.status, patched.body.code]).toEqual([404, "backup_destination_not_found"]);
    expect((await app.call("POST", `${path}/preflight`, { token: app.owner })).status).toBe(404);
    expect((await app.call("DELETE", path, { token: app.owner })).status).toBe(404);
  });

  test("concurrent changes are all applied", async () => {
    const { read, change } = await scene();
    const patches = [{ region: "x" }, { pathPrefix: "p" }, { name: "Both" }, { endpoint: "https://s3.example.com" }];
    const answers = await Promise.all(patches.map((patch) => change(patch)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await read()).toMatchObject({ region: "x", pathPrefix: "p", name: "Both" });
  });
});

test("DELETE removes a destination", async () => {
  const { app, data } = await scene();
  const path = `${PATH}/${data.id}`;
  expect((await app.call("DELETE", path, { token: app.owner })).body).toEqual({ success: true });
  expect((await app.call("GET", path, { token: app.owner })).status).toBe(404);
});

test("a restricted member sees and tests only what its grants name", async () => {
  const { app, data } = await scene();
  await create(app, { ...S3, name: "Hidden" });
  const grants = [{ resource: "backup_destination", id: data.id, action: "write" }];
  const { token } = await member(app, "restricted", { grants });
  const list = await app.call("GET", PATH, { token });
  expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([data.id]);
  expect((await app.call("POST", `${PATH}/${data.id}/preflight`, { token })).body).toEqual({ ok: true });
  expect((await create(app, { ...S3, name: "New" }, token)).status).toBe(403);
  expect((await app.call("DELETE", `${PATH}/${data.id}`, { token })).status).toBe(403);
});

describe("in cloud mode", () => {
  test.each([
    ["private.example.com", ["10.0.0.5"], 400],
    ["metadata.example.com", ["169.254.169.254"], 400],
    ["mixed.example.com", ["93.184.215.14", "192.168.0.1"], 400],
    ["mapped.example.com", ["::ffff:10.0.0.1"], 400],
    ["nowhere.example.com", [], 400],
    ["127.0.0.1", [], 400],
    ["public.example.com", ["93.184.215.14"], 201],
  ])("%s at %j answers %d", async (host, addresses, status) => {
    const app = await memoryApp({ mode: "cloud" });
    app.world.nameRecords.set(host, { addresses });
    app.world.nameRecords.set("fine.example.com", { addresses: ["93.184.215.14"] });
    const bucket = await create(app, { ...S3, endpoint: `https://${host}:9000` });
    const box = await create(app, { ...SFTP, sshHost: host });
    expect([bucket.status, box.status]).toEqual([status, status]);
    if (status === 400) expect(bucket.body.details[0].path).toBe("endpoint");
    if (status === 400) expect(box.body.details[0].path).toBe("sshHost");
    const { id } = (await create(app, { ...SFTP, name: "Fine", sshHost: "fine.example.com" })).body.data;
    const moved = await app.call("PATCH", `${PATH}/${id}`, { token: app.owner, body: { sshHost: host } });
    expect(moved.status).toBe(status === 201 ? 200 : 400);
    const draft = await app.call("POST", `${PATH}/preflight`, { token: app.owner, body: { ...SFTP, sshHost: host } });
    expect(draft.status).toBe(status === 201 ? 200 : 400);
  });

  test.each([
    "http://127.1",
    "http://0x7f000001",
    "http://2130706433",
    "http://[::1]:9000",
    "http://[::ffff:10.0.0.1]",
  ])("%s is refused in every spelling", async (endpoint) => {
    const app = await memoryApp({ mode: "cloud" });
    expect((await create(app, { ...S3, endpoint })).status).toBe(400);
  });
});
