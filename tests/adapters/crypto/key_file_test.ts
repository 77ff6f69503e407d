import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addKey, loadKeyring } from "../../../adapters/crypto/key_file.ts";
import { newKeyText } from "../../../adapters/crypto/keyring.ts";
import { CryptoVault } from "../../../adapters/crypto/vault.ts";
import { Secret } from "../../../domain/secret.ts";

const PLACE = { table: "servers", row: "srv_1", field: "sealed_password" };
const root = await mkdtemp(join(tmpdir(), "slipway-"));
let folder = "";
let count = 0;

beforeEach(() => {
  folder = join(root, `${++count}`);
});
afterAll(() => rm(root, { recursive: true, force: true }));

const path = () => join(folder, "secret.key");
const lines = async () => (await readFile(path(), "utf8")).split("\n").slice(0, -1);
const idsOf = async () => [...(await loadKeyring({ folder })).byId.keys()];

describe("loadKeyring()", () => {
  test("creates a key file that only its owner can read, and reads the same key again", async () => {
    const first = await loadKeyring({ folder });
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect(await lines()).toHaveLength(1);
    expect((await loadKeyring({ folder })).current.id).toBe(first.current.id);
    expect(await readdir(folder)).toEqual(["secret.key"]);
  });

  test("returns the same key to all processes that start concurrently", async () => {
    const script = `
      import { loadKeyring } from ${JSON.stringify(join(import.meta.dir, "../../../adapters/crypto/key_file.ts"))};
      const rings = await Promise.all(Array.from({ length: 20 }, () => loadKeyring({ folder: process.argv.at(-1) })));
      process.stdout.write(rings.map(({ current }) => current.id).join("\\n") + "\\n");`;
    const started = Array.from({ length: 3 }, () =>
      Bun.spawn([process.execPath, "-e", script, "--", folder], { stdout: "pipe" }),
    );
    const ids = (await Promise.all(started.map(({ stdout }) => new Response(stdout).text()))).join("").trim();
    expect(ids.split("\n")).toHaveLength(60);
    expect(new Set(ids.split("\n")).size).toBe(1);
    expect(await readdir(folder)).toEqual(["secret.key"]);
  });

  test("prefers the settings to the file, and reads former keys after the first line of the file", async () => {
    const [current, former] = [newKeyText(), newKeyText()];
    const given = await loadKeyring({ folder, current, previous: [former] });
    expect(given.byId.size).toBe(2);
    await expect(stat(folder)).rejects.toMatchObject({ code: "ENOENT" });
    await loadKeyring({ folder });
    await writeFile(path(), `${current}\n\n${former}\n`);
    const read = await loadKeyring({ folder });
    expect(read.current.id).toBe(given.current.id);
    expect([...read.byId.keys()]).toEqual([...given.byId.keys()]);
  });

  const wrong = ["", "short", btoa("x".repeat(31)), btoa("x".repeat(33)), "*".repeat(44)];

  test.each(wrong)("refuses the setting %j by name, without showing its value", async (current) => {
    const failure = await loadKeyring({ folder, current }).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ code: "invalid_secret_key" });
    expect((failure as Error).message).toStartWith("Cannot use SLIPWAY_SECRET_KEY:");
    if (current) expect((failure as Error).message).not.toContain(current);
    const previous = [newKeyText(), current];
    await expect(loadKeyring({ folder, current: newKeyText(), previous })).rejects.toThrow(
      "Cannot use SLIPWAY_SECRET_KEY_PREVIOUS:",
    );
  });

  test.each(wrong)("refuses a key file with the line %j, and does not change it", async (line) => {
    await loadKeyring({ folder });
    await writeFile(path(), `${line}\n`);
    const failure = await loadKeyring({ folder }).catch((error: unknown) => error as Error);
    expect((failure as Error).message).toStartWith('Cannot use the file "secret.key" in SLIPWAY_DATA:');
    expect((failure as Error).message).not.toContain(folder);
    expect(await readFile(path(), "utf8")).toBe(`${line}\n`);
  });

  test("reports that the folder cannot be used without naming its path", async () => {
    await writeFile(folder, "a file");
    const failure = await loadKeyring({ folder }).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ kind: "unavailable", code: "secret_key_unusable" });
    expect((failure as Error).message).not.toContain(root);
  });
});

describe("addKey()", () => {
  test("puts a new key first, keeps the former ones, and is read by vaults that reload", async () => {
    const vault = await CryptoVault.load({ folder });
    const former = vault.keyId();
    const sealed = await vault.seal(new Secret("old"), PLACE);
    const added = await addKey(folder);
    expect(await idsOf()).toEqual([added, former]);
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect(vault.keyId()).toBe(former);
    await vault.reload();
    expect(vault.keyId()).toBe(added);
    expect((await vault.open(sealed, PLACE)).reveal()).toBe("old");
    expect(await readdir(folder)).toEqual(["secret.key"]);
  });

  test("is noticed by a vault that opens a text sealed with the new key", async () => {
    const lagging = await CryptoVault.load({ folder });
    await addKey(folder);
    const leading = await CryptoVault.load({ folder });
    const sealed = await leading.seal(new Secret("new"), PLACE);
    expect((await lagging.open(sealed, PLACE)).reveal()).toBe("new");
    expect(lagging.keyId()).toBe(leading.keyId());
  });

  test("loses no key when called concurrently", async () => {
    const before = (await loadKeyring({ folder })).current.id;
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => addKey(folder)));
    const added = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(added.length).toBeGreaterThan(0);
    for (const reason of refused) expect(reason).toMatchObject({ kind: "conflict", code: "rotation_running" });
    expect(new Set(await idsOf())).toEqual(new Set([...added, before]));
  });

  test("recovers from a killed rotation", async () => {
    const before = (await loadKeyring({ folder })).current.id;
    await writeFile(`${path()}.next`, "half a ke");
    await expect(addKey(folder)).rejects.toMatchObject({ code: "rotation_running" });
    await utimes(`${path()}.next`, new Date(0), new Date(0));
    expect(await idsOf()).toEqual([before]);
    expect(await idsOf()).toEqual([before]);
    const added = await addKey(folder);
    expect(await idsOf()).toEqual([added, before]);
  });
});

test("a vault looks for a new key immediately, even right after another lookup", async () => {
  const lagging = await CryptoVault.load({ folder });
  await lagging.reload();
  const stranger = await CryptoVault.load({ folder: join(folder, "other") });
  await expect(lagging.open(await stranger.seal(new Secret("x"), PLACE), PLACE)).rejects.toMatchObject({
    code: "secret_unreadable",
  });
  await addKey(folder);
  const leading = await CryptoVault.load({ folder });
  const sealed = await Promise.all(["a", "b"].map((text) => leading.seal(new Secret(text), PLACE)));
  const opened = await Promise.all(sealed.map((text) => lagging.open(text, PLACE)));
  expect(opened.map((secret) => secret.reveal())).toEqual(["a", "b"]);
});
