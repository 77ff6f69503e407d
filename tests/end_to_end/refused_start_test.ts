import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newKeyText } from "../../adapters/crypto/keyring.ts";
import { faultyListener } from "../support/faults/faulty_listener.ts";
import { query } from "../support/database/query.ts";
import {
  type ProgramOutcome,
  type Settings,
  slipwayOutcome,
  SlipwayProcess,
  temporaryPlace,
} from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** Expects that a start failed with exactly one line on stderr, and returns that line. */
function refusal({ code, signal, stdout, stderr }: ProgramOutcome): string {
  expect({ code, signal, stdout }).toEqual({ code: 1, signal: null, stdout: "" });
  expect(stderr).toMatch(/^slipway: [^\n]+\n$/);
  return stderr;
}

/** This process, as the sentence about a port that it listens on names it. */
const HERE = `${readFileSync("/proc/self/comm", "utf8").trim()} (pid ${process.pid})`;

/** Invalid values of settings; "swordfish" must not be repeated in the error. */
const BAD: readonly (readonly [string, string])[] = [
  ["PORT", "abc"],
  ["PORT", "65536"],
  ["PORT", "-1"],
  ["PORT", "4400.5"],
  ["PUBLIC_URL", "swordfish"],
  ["PUBLIC_URL", "ftp://swordfish"],
  ["DATABASE_URL", "swordfish"],
  ["DATABASE_URL", "mysql://user:swordfish@localhost/x"],
  ["DATABASE_URL", "postgres://user:swordfish%zz@localhost/x"],
  ["DATABASE_URL", "postgres://user:swordfish@localhost:99999/x"],
  ["SLIPWAY_ADMIN_TOKEN", "short"],
  ["SLIPWAY_ADMIN_TOKEN", "swordfish with blanks"],
  ["SLIPWAY_SECRET_KEY", "swordfish"],
  ["SLIPWAY_SECRET_KEY", Buffer.alloc(31).toString("base64")],
  ["SLIPWAY_SECRET_KEY", Buffer.alloc(33).toString("base64")],
  ["SLIPWAY_SECRET_KEY_PREVIOUS", `${newKeyText()},swordfish`],
  ["SLIPWAY_MODE", "x"],
  ["SLIPWAY_RUNTIME", "podman"],
  ["DOCKER_HOST", "/run/swordfish.sock"],
  ["DOCKER_HOST", "ssh://user@host"],
  ["BASE_DOMAIN", "not a name"],
  ["LOCAL_SOURCE_ROOTS", "relative"],
  ["BACKUP_ALLOW_LOCAL_DESTINATION", "swordfish"],
  ["BACKUP_LOCAL_ROOT", "relative/swordfish"],
  ["ACME_DIRECTORY_URL", "http://swordfish"],
  ["ACME_EMAIL", "swordfish"],
  ["ACME_CA_FILE", "relative/swordfish"],
  ["BACKUP_CA_FILE", "relative/swordfish"],
  ["TRUSTED_PROXIES", "10.0.0.0/33"],
  ["TRUSTED_PROXIES", "proxy.example.com"],
  ["UPLOAD_MAX_BYTES", "2GB"],
  ["UPLOAD_MAX_BYTES", "0"],
  ["LOG_LEVEL", "loud"],
  ["LOG_FORMAT", "xml"],
  ["EDGE_PORT", "x"],
  ["EDGE_TLS_PORT", "x"],
  ["EDGE_HTTPS_REDIRECT", "true"],
  ["EDGE_HSTS_SECONDS", "-1"],
  ["BUILD_CONCURRENCY", "0"],
  ["BUILD_TIMEOUT_SECONDS", "0"],
  ["ROLLBACK_WINDOW", "-1"],
  ["CLOUD_API_URL", "x"],
];

describe("a start is refused in one line", () => {
  test.each(BAD)("%s=%s", async (name, value) => {
    await using place = await temporaryPlace();
    const line = refusal(await slipwayOutcome({ SLIPWAY_DATA: place.data, [name]: value }));
    expect(line).toContain(name);
    expect(line).not.toContain("swordfish");
    if (value.length > 8) expect(line).not.toContain(value);
    expect(existsSync(place.data)).toBe(false);
  });

  test("when the port is in use, before it touches any data", async () => {
    await using place = await temporaryPlace();
    using taken = faultyListener("silent");
    const line = refusal(await slipwayOutcome({ SLIPWAY_DATA: place.data, PORT: String(taken.port) }));
    expect(line).toContain(`127.0.0.1:${taken.port}: ${HERE} uses it`);
    expect(line).toContain("set PORT ");
    expect(await readdir(place.parent)).toEqual([]);
  });

  test.each(["inside", "separate"])("when the port of the edge is in use, edge %s", async (edge) => {
    await using place = await temporaryPlace();
    await using database = await testDatabase();
    using taken = faultyListener("silent");
    const base: Settings = { SLIPWAY_DATA: place.data, DATABASE_URL: database.url, EDGE: edge };
    const line = refusal(await slipwayOutcome({ ...base, EDGE_PORT: String(taken.port) }));
    expect(line).toContain(`127.0.0.1:${taken.port}: ${HERE} uses it`);
    expect(line).toMatch(/ set EDGE_PORT .*docs\/behind-a-proxy\.md$/m);
  });

  test.each(["no.such.host.invalid", "192.0.2.1", "-1"])("when it cannot listen on HOST=%s", async (host) => {
    await using place = await temporaryPlace();
    expect(refusal(await slipwayOutcome({ SLIPWAY_DATA: place.data, HOST: host }))).toContain("HOST");
    expect(await readdir(place.parent)).toEqual([]);
  });

  test("when the data folder is a file, or is below one", async () => {
    await using place = await temporaryPlace();
    await writeFile(place.data, "mine");
    for (const folder of [place.data, join(place.data, "below"), "/proc/slipway"]) {
      expect(refusal(await slipwayOutcome({ SLIPWAY_DATA: folder }))).toContain("SLIPWAY_DATA");
    }
    expect(await Bun.file(place.data).text()).toBe("mine");
  });

  test.each(["secret.key", "postgres.json", "postgres.lock", "postgres"])(
    "when %s in the data folder is not what it should be",
    async (name) => {
      await using place = await temporaryPlace();
      await mkdir(place.data);
      if (name === "postgres") await writeFile(join(place.data, name), "a file");
      else await mkdir(join(place.data, name));
      refusal(await slipwayOutcome({ SLIPWAY_DATA: place.data }));
    },
  );

  test("when another server uses the data folder, which keeps running", async () => {
    await using slipway = await SlipwayProcess.start();
    const line = refusal(await slipwayOutcome({ SLIPWAY_DATA: slipway.folder }));
    expect(line).toContain(`in use by process ${slipway.program.pid}`);
    expect((await slipway.call("GET", "/api/auth/me", { token: slipway.owner })).status).toBe(200);
  });

  test("when the database does not exist, cannot be reached or is not the right one", async () => {
    await using place = await temporaryPlace();
    await using database = await testDatabase();
    using hangsUp = faultyListener("closing");
    using silent = faultyListener("silent");
    const wrong = (change: Partial<URL>) => Object.assign(new URL(database.url), change).href;
    const reasons = [
      ["postgres://u:swordfish@127.0.0.1:1/x", "nothing listens"],
      [`postgres://u:swordfish@127.0.0.1:${hangsUp.port}/x`, "the connection broke"],
      [`postgres://u:swordfish@127.0.0.1:${silent.port}/x`, "does not answer"],
      ["postgres://u:swordfish@no.such.host.invalid/x", "name of its host"],
      [wrong({ password: "swordfish" }), "the password"],
      [wrong({ pathname: "/swordfish" }), "no database of the name"],
      [wrong({ search: "?swordfish=1" }), "parameter"],
    ] as const;
    const outcomes = reasons.map(async ([url, reason]) => {
      const line = refusal(await slipwayOutcome({ SLIPWAY_DATA: place.data, DATABASE_URL: url }));
      expect(line).toContain("database");
      expect(line).toContain(reason);
      expect(line).not.toContain("swordfish");
    });
    await Promise.all(outcomes);
  });

  test("when the secret key is not the one the database was encrypted with", async () => {
    await using place = await temporaryPlace();
    await using database = await testDatabase();
    const [right, wrong] = [newKeyText(), newKeyText()];
    const base: Settings = { SLIPWAY_DATA: place.data, DATABASE_URL: database.url };
    await using slipway = await SlipwayProcess.start({ ...base, SLIPWAY_SECRET_KEY: right });
    await slipway.stop();
    const former = { SLIPWAY_SECRET_KEY: wrong, SLIPWAY_SECRET_KEY_PREVIOUS: `${newKeyText()},${newKeyText()}` };
    for (const keys of [{ SLIPWAY_SECRET_KEY: wrong }, {}, former]) {
      const line = refusal(await slipwayOutcome({ ...base, ...keys }));
      expect(line).toMatch(/sealed with key [0-9a-f]{12}, .*SLIPWAY_SECRET_KEY/);
      for (const key of [right, wrong]) expect(line).not.toContain(key);
    }
    await slipway.start({ SLIPWAY_SECRET_KEY: wrong, SLIPWAY_SECRET_KEY_PREVIOUS: right });
  });

  test("when the key file was lost; with the file back it starts", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const path = join(slipway.folder, "secret.key");
    const kept = await Bun.file(path).text();
    await slipway.stop();
    await rm(path);
    expect(refusal(await slipwayOutcome(slipway.settings))).toContain("SLIPWAY_SECRET_KEY");
    await writeFile(path, "nonsense\n");
    expect(refusal(await slipwayOutcome(slipway.settings))).toContain("secret.key");
    await writeFile(path, kept);
    await slipway.start();
  });

  test("when a later version, or another build, changed the database", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    await slipway.stop();
    await query(database.url, "insert into schema_migrations (version, name, sha256) values (9999, 'later', 'x')");
    expect(refusal(await slipwayOutcome(slipway.settings))).toContain("newer version of Slipway");
    await query(database.url, "delete from schema_migrations where version = 9999");
    await query(database.url, "update schema_migrations set sha256 = 'x' where version = 1");
    expect(refusal(await slipwayOutcome(slipway.settings))).toContain("another build of Slipway");
  });

  test("when SLIPWAY_ADMIN_TOKEN is a token of another user", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const minted = await slipway.call("POST", "/api/tokens", { token: slipway.owner, body: { name: "mine" } });
    const { token } = minted.body.data as { token: string };
    await slipway.stop();
    const line = refusal(await slipwayOutcome({ ...slipway.settings, SLIPWAY_ADMIN_TOKEN: token }));
    expect(line).toContain("SLIPWAY_ADMIN_TOKEN");
    expect(line).not.toContain(token);
  });
});
