import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { newKeyText } from "../../adapters/crypto/keyring.ts";
import { readConnectionRecord } from "../../adapters/embedded_postgres/connection_record.ts";
import { newToken } from "../../domain/identity/token.ts";
import { browser, login, member } from "../support/apps/app.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { commandOutcome, printedToken, SlipwayProcess } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** Repeatedly records the command lines of all processes until disposed. */
function watchCommandLines() {
  const seen = new Set<string>();
  const look = () => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
      } catch {
        // It has exited meanwhile.
      }
    }
  };
  const timer = setInterval(look, 10);
  return { seen, look, [Symbol.dispose]: () => clearInterval(timer) };
}

function canary(): string {
  return `canary-${crypto.randomUUID()}`;
}

/** Creates and tests backup destinations, valid and invalid. */
async function useDestinations({ call, owner: token }: SlipwayProcess, secrets: Record<string, string>): Promise<void> {
  const bucket = {
    name: "Bucket",
    kind: "s3_compatible",
    bucket: "backups",
    endpoint: "http://127.0.0.1:1",
    accessKeyId: secrets["access key"],
    secretAccessKey: secrets["secret access key"],
  };
  const box = {
    name: "Box",
    kind: "sftp",
    sshHost: "127.0.0.1",
    sshPort: 1,
    sshUser: "x",
    sftpPassword: secrets["SFTP password"],
    sftpPrivateKey: secrets["SFTP key"],
    sftpKeyPassphrase: secrets["SFTP passphrase"],
  };
  const path = "/api/backup-destinations";
  for (const body of [bucket, box]) {
    const made = await call("POST", path, { token, body });
    expect(made.status).toBe(201);
    expect((await call("POST", `${path}/${made.body.data.id}/preflight`, { token })).body.ok).toBe(false);
    await call("POST", `${path}/preflight`, { token, body });
    await call("POST", path, { token, body: { ...body, kind: "local" } });
    await call("PATCH", `${path}/${made.body.data.id}`, { token, body: { ...body, kind: undefined, name: "" } });
  }
}

/** Calls the API with secrets in every field that accepts one, with valid and invalid requests. */
async function useEverything(slipway: SlipwayProcess): Promise<Record<string, string>> {
  const { call, owner: token } = slipway;
  const secrets = {
    password: canary(),
    variable: canary(),
    "server password": canary(),
    "cloud token": canary(),
    "access key": canary(),
    "secret access key": canary(),
    "SFTP password": canary(),
    "SFTP key": `-----BEGIN OPENSSH PRIVATE KEY-----\n${canary()}\n-----END OPENSSH PRIVATE KEY-----`,
    "SFTP passphrase": canary(),
    "wrong password": canary(),
    "wrong token": canary(),
    "unknown field": canary(),
  };
  const project = await call("POST", "/api/projects", { token, body: { name: "Harbour" } });
  const env = `/api/projects/${project.body.data.id}/env`;
  await call("PATCH", env, { token, body: { upserts: [{ key: "A", value: secrets.variable, secret: true }] } });
  await call("PATCH", env, { token, body: { upserts: [{ key: "a b", value: secrets["unknown field"] }] } });
  const server = {
    name: "Berlin",
    sshHost: "127.0.0.1",
    sshPort: 1,
    sshUser: "x",
    sshPassword: secrets["server password"],
  };
  const created = await call("POST", "/api/servers", { token, body: server });
  await call("POST", `/api/servers/${created.body.data.id}/check`, { token });
  await useDestinations(slipway, secrets);
  await call("PUT", "/api/cloud/link", {
    token,
    body: { url: "https://cloud.invalid", token: secrets["cloud token"] },
  });
  await call("POST", "/api/auth/password", { token, body: { password: secrets.password } });
  const cookie = await login(slipway, "owner@localhost", secrets.password);
  const wrong = { email: "owner@localhost", password: secrets["wrong password"] };
  await call("POST", "/api/auth/login", { body: wrong });
  await call("POST", "/api/auth/login", { body: { ...wrong, extra: secrets["unknown field"] } });
  await call("GET", "/api/auth/me", { token: secrets["wrong token"] });
  await call("POST", "/api/projects", {
    token,
    raw: `{"name": "${secrets["unknown field"]}`,
    headers: { "content-type": "application/json" },
  });
  const { token: minted, cookie: session } = await member(slipway, "viewer");
  await call("POST", "/api/auth/logout", browser(cookie));
  return { ...secrets, cookie, "member's token": minted, "member's cookie": session };
}

test("expectHidden() finds a secret in every form", () => {
  const secret = newToken();
  const pairs = ["", "a", "ab"].map((before) => btoa(`${before}${secret}:after`));
  for (const text of [secret, `a=${encodeURIComponent(`/${secret}`)}`, Buffer.from(secret).toString("hex"), ...pairs]) {
    expect(() => expectHidden(text, { token: secret })).toThrow("token");
  }
  expectHidden(newToken(), { token: secret });
});

test("no secret is printed, logged or in the process list, in any form, with everything generated", async () => {
  using watched = watchCommandLines();
  await using slipway = await SlipwayProcess.prepare({ LOG_LEVEL: "debug" });
  await slipway.start();
  const [printed, owner] = [slipway.program.stdout, slipway.owner];
  expect(printedToken(printed)).toBe(owner);
  const stored = {
    "secret key": (await readFile(join(slipway.folder, "secret.key"), "utf8")).trim(),
    "database password": (await readConnectionRecord(slipway.folder))!.password,
  };
  const secrets = { ...stored, ...(await useEverything(slipway)) };
  const rotated = await commandOutcome(["rotate-key"], slipway.settings);
  expect(rotated.code).toBe(0);
  const added = (await readFile(join(slipway.folder, "secret.key"), "utf8")).split("\n")[0]!;
  watched.look();
  const { stdout, stderr } = await slipway.stop();
  expect(stderr).toContain('"request"');
  const all = { ...secrets, "added key": added, "owner's token": owner };
  expectHidden(stdout.replace(owner, ""), all);
  expectHidden(stderr + rotated.stdout + rotated.stderr + [...watched.seen].join("\n"), all);
  expect([...watched.seen].some((line) => line.includes("postgres"))).toBe(true);
  expectHidden(await readFile(join(slipway.folder, "postgres.log"), "utf8"), all);
  expect((await readdir(slipway.folder)).toSorted()).toEqual(
    ["instances", "postgres", "postgres.json", "postgres.lock", "postgres.log", "secret.key"].toSorted(),
  );
});

test("no secret is printed, logged or in the process list, in any form, with everything configured", async () => {
  using watched = watchCommandLines();
  await using database = await testDatabase();
  const settings = {
    DATABASE_URL: database.url,
    SLIPWAY_ADMIN_TOKEN: newToken(),
    SLIPWAY_SECRET_KEY: newKeyText(),
    SLIPWAY_SECRET_KEY_PREVIOUS: newKeyText(),
    CLOUD_API_URL: "http://127.0.0.1:1",
    CLOUD_TOKEN: newToken(),
    LOG_LEVEL: "debug",
    LOG_FORMAT: "text",
  };
  await using slipway = await SlipwayProcess.start(settings);
  const used = await useEverything(slipway);
  watched.look();
  const { stdout, stderr } = await slipway.stop();
  const { DATABASE_URL: _, LOG_LEVEL: _level, LOG_FORMAT: _format, ...configured } = settings;
  const all = { ...used, ...configured, "database password": new URL(database.url).password };
  expectHidden(stdout + stderr + [...watched.seen].join("\n"), all);
  expect(stderr).toContain("/api/projects");
});
