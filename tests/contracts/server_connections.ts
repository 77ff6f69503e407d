import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { Failure } from "../../domain/failure.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { ServerConnection } from "../../ports/servers/server_connections.ts";
import { eventually } from "../support/eventually.ts";
import type { ServerStage } from "./server_stage.ts";

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;
const OTHER_KEY = `SHA256:${"A".repeat(43)}`;
const LIMIT = { maxBytes: 100_000 };

type Open = () => Promise<ServerStage>;

/** Contract tests for `ServerConnections` adapters. */
export function serverConnectionsContract(name: string, open: Open) {
  describe(`ServerConnections contract: ${name}`, () => {
    let stage: ServerStage;
    beforeAll(async () => {
      stage = await open();
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
    });
    const current = () => stage;
    describe("open()", () => openTests(current));
    describe("open() refuses", () => refusalTests(current));
    describe("readFile()", () => fileTests(current));
    describe("after a breakdown", () => breakdownTests(current));
  });
}

function openTests(stage: () => ServerStage) {
  test("reports the host key, and an address that leads to the engine", async () => {
    await using connection = await stage().connections.open(stage().worker);
    expect(connection.hostKey).toMatch(FINGERPRINT);
    expect(await stage().inventories.read(connection.engineAddress)).toMatchObject({ runtime: { name: "docker" } });
  });

  test("accepts the expected host key", async () => {
    const hostKey = await keyOf(stage());
    await using connection = await stage().connections.open({ ...stage().worker, hostKey });
    expect(connection.hostKey).toBe(hostKey);
  });

  test("serves many at once, and those that remain when one leaves, even if that one leaves twice", async () => {
    const { connections, inventories, worker } = stage();
    const opened = await Promise.all(Array.from({ length: 5 }, () => connections.open(worker)));
    const [first, ...others] = opened;
    await first![Symbol.asyncDispose]();
    await first![Symbol.asyncDispose]();
    await Promise.all(others.map(({ engineAddress }) => inventories.read(engineAddress)));
    await Promise.all(others.map((connection) => connection[Symbol.asyncDispose]()));
    await using again = await connections.open(worker);
    expect(await inventories.read(again.engineAddress)).toMatchObject({ unread: [] });
  });
}

function refusalTests(stage: () => ServerStage) {
  test("a key that the machine does not accept, also while the right one is in use", async () => {
    await using connection = await stage().connections.open(stage().worker);
    const { hostKey } = connection;
    const failure = await refusal(stage(), { ...stage().worker, hostKey, privateKey: stage().strangerKey });
    expect(failure).toMatchObject({ kind: "remote_failed", code: "auth_failed" });
  });

  test("another host key than the expected one, also while the right one is in use, and names both", async () => {
    await using connection = await stage().connections.open(stage().worker);
    const failure = await refusal(stage(), { ...stage().worker, hostKey: OTHER_KEY });
    expect(failure).toMatchObject({ kind: "conflict", code: "host_key_changed" });
    expect(failure.message).toContain(OTHER_KEY);
    expect(failure.message).toContain(connection.hostKey);
  });

  test("an address where nothing listens", async () => {
    expect(await refusal(stage(), stage().absent)).toMatchObject({ kind: "remote_failed", code: "unreachable" });
  });

  test("a machine without an engine", async () => {
    expect(await refusal(stage(), stage().bare)).toMatchObject({ kind: "remote_failed", code: "engine_missing" });
  });

  test("a user who may not use the engine, also while another one uses it", async () => {
    await using connection = await stage().connections.open(stage().worker);
    const { hostKey } = connection;
    expect(await refusal(stage(), { ...stage().outsider, hostKey })).toMatchObject({
      kind: "remote_failed",
      code: "engine_forbidden",
    });
  });

  test("when its signal has aborted", async () => {
    const options = { signal: AbortSignal.abort() };
    await expect(stage().connections.open({ ...stage().worker, hostKey: OTHER_KEY }, options)).rejects.toThrow();
  });
}

function fileTests(stage: () => ServerStage) {
  test("returns exactly what a file has", async () => {
    const text = `${"grün 日本 $A $$B \r\n\t'\"`".repeat(2_000)}without a final newline`;
    await stage().writeFile("/srv/ein Ordner/a,b$(id).yml", text);
    await stage().writeFile("/srv/empty", "");
    await using connection = await stage().connections.open(stage().worker);
    expect(await textIn(connection, "/srv/ein Ordner/a,b$(id).yml")).toBe(text);
    expect(await textIn(connection, "/srv/empty")).toBe("");
  });

  test("returns why a file cannot be read", async () => {
    await stage().writeFile("/srv/private/.env", "PASSWORD=hunter2", { isPrivate: true });
    await stage().writeFile("/srv/shop/compose.yml", "services: {}");
    await using connection = await stage().connections.open(stage().worker);
    const why = (path: string) => connection.readFile(path, LIMIT);
    expect(await why("/srv/private/.env")).toBe("forbidden");
    expect(await why("/srv/shop")).toBe("no_file");
    expect(await why("/srv/shop/other.yml")).toBe("absent");
    expect(await why("/srv/nowhere/compose.yml")).toBe("absent");
  });

  test("returns a file of exactly the limit, and not one with a byte more", async () => {
    await stage().writeFile("/srv/large", "x".repeat(70_000));
    await using connection = await stage().connections.open(stage().worker);
    expect(await connection.readFile("/srv/large", { maxBytes: 70_000 })).toHaveLength(70_000);
    expect(await connection.readFile("/srv/large", { maxBytes: 69_999 })).toBe("too_large");
  });

  test("reads several files concurrently", async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `/srv/many/${index}`);
    await Promise.all(paths.map((path) => stage().writeFile(path, path)));
    await using connection = await stage().connections.open(stage().worker);
    expect(await Promise.all(paths.map((path) => textIn(connection, path)))).toEqual(paths);
  });

  test("rejects when its signal has aborted, and the connection continues", async () => {
    await stage().writeFile("/srv/still", "here");
    await using connection = await stage().connections.open(stage().worker);
    const reading = connection.readFile("/srv/still", { ...LIMIT, signal: AbortSignal.abort(new Error("over")) });
    await expect(reading).rejects.toThrow("over");
    expect(await textIn(connection, "/srv/still")).toBe("here");
  });
}

function breakdownTests(stage: () => ServerStage) {
  test("refuses while the engine does not run, and connects when it does again", async () => {
    await stage().stopEngine();
    expect(await refusal(stage(), stage().worker)).toMatchObject({ kind: "remote_failed", code: "engine_stopped" });
    await stage().startEngine();
    await using connection = await stage().connections.open(stage().worker);
    expect(await stage().inventories.read(connection.engineAddress)).toMatchObject({ unread: [] });
  });

  test("fails while the machine is off, and goes on when it is back", async () => {
    await stage().writeFile("/srv/kept", "here");
    await using connection = await stage().connections.open(stage().worker);
    expect(await textIn(connection, "/srv/kept")).toBe("here");
    await stage().cutPower();
    await expect(connection.readFile("/srv/kept", LIMIT)).rejects.toMatchObject({ kind: "remote_failed" });
    await expect(stage().inventories.read(connection.engineAddress)).rejects.toMatchObject({ code: "engine_away" });
    expect(await refusal(stage(), stage().worker)).toMatchObject({ kind: "remote_failed" });
    await stage().restorePower();
    expect(
      await eventually(
        () => textIn(connection, "/srv/kept"),
        (text) => text === "here",
      ),
    ).toBe("here");
    expect(await stage().inventories.read(connection.engineAddress)).toMatchObject({ unread: [] });
    await using another = await stage().connections.open(stage().worker);
    expect(another.hostKey).toBe(connection.hostKey);
  });
}

/** The failure of a connection attempt. Also checks that it contains no secrets. */
async function refusal({ connections }: ServerStage, target: RemoteTarget): Promise<Failure> {
  const error = await connections.open(target).then(
    async (connection) => {
      await connection[Symbol.asyncDispose]();
      throw new Error("The attempt succeeded");
    },
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error;
  const shown = inspect(error, { depth: 10 }) + JSON.stringify(error) + error.message;
  for (const line of target.privateKey?.reveal().split("\n") ?? []) {
    if (line.length > 3 && !line.startsWith("-----")) expect(shown).not.toContain(line);
  }
  expect(error.message).toStartWith("Cannot ");
  return error;
}

async function keyOf({ connections, worker }: ServerStage): Promise<string> {
  await using connection = await connections.open(worker);
  return connection.hostKey;
}

async function textIn(connection: ServerConnection, path: string): Promise<string> {
  const content = await connection.readFile(path, LIMIT);
  if (typeof content === "string") throw new Error(`${path} is ${content}`);
  return new TextDecoder().decode(content);
}
