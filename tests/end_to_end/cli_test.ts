import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { newKeyText } from "../../adapters/crypto/keyring.ts";
import { newToken } from "../../domain/identity/token.ts";
import manifest from "../../package.json" with { type: "json" };
import { query } from "../support/database/query.ts";
import {
  commandOutcome,
  postgresOn,
  printedToken,
  type ProgramOutcome,
  SlipwayProcess,
  temporaryPlace,
} from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

function expectRefusal({ code, stdout, stderr }: ProgramOutcome, reason: string): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^slipway: [^\n]+\n$/);
  expect(stderr).toContain(reason);
}

/** The keys with which the variables in a database are encrypted (sealed). */
async function sealingKeys(url: string): Promise<readonly string[]> {
  const rows = await query(url, "select distinct split_part(sealed_value, '.', 2) as key from variables");
  return rows.map(({ key }) => String(key));
}

/** Stores some secrets; returns a function that checks that they can be read. */
async function storeSecrets(slipway: SlipwayProcess) {
  const { call, owner: token } = slipway;
  const created = await call("POST", "/api/projects", { token, body: { name: "Harbour" } });
  const path = `/api/projects/${created.body.data.id}/env`;
  // Variables that are not secret are returned, which shows that they can be decrypted.
  const upserts = Array.from({ length: 5 }, (_, index) => ({ key: `KEY_${index}`, value: `value ${index}` }));
  await call("PATCH", path, { token, body: { upserts } });
  return async () => {
    const { body } = await call("GET", path, { token });
    expect(body.data).toMatchObject(upserts);
  };
}

describe("bin/slipway", () => {
  test("version prints the version", async () => {
    for (const word of ["version", "--version"]) {
      expect(await commandOutcome([word])).toMatchObject({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
    }
  });

  test("help, and no command, list the commands; an unknown command does too, and fails", async () => {
    const [help, dashed, nothing, unknown] = await Promise.all(
      [["help"], ["--help"], [], ["launch"]].map((words) => commandOutcome(words)),
    );
    for (const word of ["init", "rotate-key", "version"]) expect(help!.stdout).toContain(`bin/slipway ${word}`);
    expect([help!.code, dashed!.code, nothing!.code]).toEqual([0, 0, 0]);
    expect([dashed!.stdout, nothing!.stdout]).toEqual([help!.stdout, help!.stdout]);
    expect(unknown!.code).toBe(2);
    expect(unknown!.stdout + unknown!.stderr).toContain("bin/slipway init");
  });

  test("a bad setting is refused in one line that names it", async () => {
    expectRefusal(await commandOutcome(["rotate-key"], { SLIPWAY_SECRET_KEY: "swordfish" }), "SLIPWAY_SECRET_KEY");
  });
});

describe("bin/slipway init", () => {
  test("creates the first owner before the first start and shows the token once; a second run is refused", async () => {
    await using place = await temporaryPlace();
    const settings = { SLIPWAY_DATA: place.data };
    const words = ["init", "--email", "Ada@Example.com", "--name", "Ada Lovelace"];
    const { code, stdout } = await commandOutcome(words, settings);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("ada@example.com") });
    const token = printedToken(stdout)!;
    expect(stdout.split(token)).toHaveLength(2);
    expect(await postgresOn(place.data)).toEqual([]);
    expectRefusal(await commandOutcome(words, settings), "this installation has one");
    await using slipway = await SlipwayProcess.start(settings);
    expect(slipway.program.stdout).not.toContain("slp_");
    const me = await slipway.call("GET", "/api/auth/me", { token });
    expect(me.body.data.user).toMatchObject({ email: "ada@example.com", name: "Ada Lovelace", founder: true });
    expectRefusal(await commandOutcome(words, settings), "this installation has one");
    expect((await slipway.call("GET", "/api/auth/me", { token })).status).toBe(200);
  });

  test("uses SLIPWAY_ADMIN_TOKEN and does not show it", async () => {
    await using database = await testDatabase();
    await using place = await temporaryPlace();
    const settings = { SLIPWAY_DATA: place.data, DATABASE_URL: database.url, SLIPWAY_ADMIN_TOKEN: newToken() };
    const { code, stdout } = await commandOutcome(["init", "--email", "ada@example.com"], settings);
    expect(code).toBe(0);
    expect(stdout).not.toContain("slp_");
    await using slipway = await SlipwayProcess.start(settings);
    expect((await slipway.call("GET", "/api/auth/me", { token: slipway.owner })).status).toBe(200);
  });

  test.each([[[]], [["--email", "nobody"]], [["--email"]], [["--mail", "a@b.example"]], [["ada@example.com"]]])(
    "refuses the arguments %j in one line and creates nothing",
    async (words) => {
      await using place = await temporaryPlace();
      const { code, stdout, stderr } = await commandOutcome(["init", ...words], { SLIPWAY_DATA: place.data });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^slipway: [^\n]+\n$/);
    },
  );

  test("when refused, leaves the owner's token as it is, even if SLIPWAY_ADMIN_TOKEN is set", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const words = ["init", "--email", "eve@example.com"];
    const refused = await commandOutcome(words, { ...slipway.settings, SLIPWAY_ADMIN_TOKEN: newToken() });
    expectRefusal(refused, "this installation has one");
    // A refused command changes nothing, in particular not the owner's token.
    expect((await slipway.call("GET", "/api/auth/me", { token: slipway.owner })).status).toBe(200);
  });
});

describe("bin/slipway rotate-key", () => {
  test("creates a new key where nothing is stored", async () => {
    await using database = await testDatabase();
    await using place = await temporaryPlace();
    const settings = { SLIPWAY_DATA: place.data, DATABASE_URL: database.url };
    const { code, stdout, stderr } = await commandOutcome(["rotate-key"], settings);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("nothing was stored yet");
    expect((await readFile(join(place.data, "secret.key"), "utf8")).trim().split("\n")).toHaveLength(2);
    await using _ = await SlipwayProcess.start(settings);
  });

  test("re-encrypts everything while the server runs, which keeps running and starts again", async () => {
    await using slipway = await SlipwayProcess.start();
    const readable = await storeSecrets(slipway);
    for (let round = 0; round < 2; round++) {
      const { code, stdout, stderr } = await commandOutcome(["rotate-key"], slipway.settings);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/Done: 5 secrets are sealed with the key [0-9a-f]{12}\./);
      await readable();
    }
    await slipway.stop();
    const { code } = await commandOutcome(["rotate-key"], slipway.settings);
    expect(code).toBe(0);
    expect(await postgresOn(slipway.folder)).toEqual([]);
    await slipway.start();
    await readable();
  });

  test("with a key from the environment says what to do, and then does it", async () => {
    await using database = await testDatabase();
    const [first, second] = [newKeyText(), newKeyText()];
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url, SLIPWAY_SECRET_KEY: first });
    const readable = await storeSecrets(slipway);
    const [before] = await sealingKeys(database.url);
    const instructions = await commandOutcome(["rotate-key"], slipway.settings);
    expect(instructions).toMatchObject({ code: 0, stderr: "" });
    expect(instructions.stdout).toContain("SLIPWAY_SECRET_KEY_PREVIOUS");
    expect(await sealingKeys(database.url)).toEqual([before!]);
    await slipway.stop();
    const changed = { SLIPWAY_SECRET_KEY: second, SLIPWAY_SECRET_KEY_PREVIOUS: first };
    await slipway.start(changed);
    await readable();
    const rotated = await commandOutcome(["rotate-key"], { ...slipway.settings, ...changed });
    expect(rotated).toMatchObject({ code: 0, stderr: "" });
    expect(rotated.stdout).toContain("Done: 5 secrets");
    const after = await sealingKeys(database.url);
    expect(after).toHaveLength(1);
    expect(after).not.toContain(before!);
    for (const key of [first, second]) expect(instructions.stdout + rotated.stdout).not.toContain(key);
    await slipway.stop();
    // The former key is no longer needed.
    await slipway.start({ SLIPWAY_SECRET_KEY: second });
    await readable();
  });
});
