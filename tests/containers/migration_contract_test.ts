import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { DockerEngineInventories } from "../../adapters/docker/inventory/engine_inventories.ts";
import { engineInventoriesContract } from "../contracts/engine_inventories.ts";
import { serverConnectionsContract } from "../contracts/server_connections.ts";
import { managedStage, ownConnections } from "../support/apps/managed_stage.ts";
import { eventually } from "../support/eventually.ts";
import { type ManagedServer, startManagedServer } from "../support/peers/managed_server.ts";

// For all tests: each leaves it as it was.
let server: ManagedServer;
beforeAll(async () => {
  server = await startManagedServer();
  await server.loadTinyImage();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

serverConnectionsContract("OpenSSH and Docker", () => managedStage(server, { hasBare: true }));
engineInventoriesContract("Docker over OpenSSH", () => managedStage(server, { hasBare: false }));

/** More than requests run at the same time through programs. */
const CONTAINERS = 12;
const inventories = new DockerEngineInventories();

/** Creates many containers, which takes a while if each is created by a command over the network. */
async function createMany(machine: ManagedServer): Promise<void> {
  const script = `for n in $(seq ${CONTAINERS}); do docker create --name many-$n --label n=$n tiny >/dev/null; done`;
  await machine.exec(["sh", "-c", script]);
}

/** The number of connections to a server's sshd. */
async function connectionsTo(machine: ManagedServer): Promise<number> {
  const open = await machine.exec(["ss", "-Htn", "state", "established", "sport", "=", ":22"]);
  return open.split("\n").filter((line) => line !== "").length;
}

/** Resolves when nobody is logged in to a server, and no program runs there for anybody. */
async function nobodyOn(machine: ManagedServer): Promise<void> {
  const programs = async () => machine.exec(["sh", "-c", "pgrep -a -f 'sshd: |dial-stdio|sftp-server' || true"]);
  const others = async () =>
    (await programs()).split("\n").filter((line) => line !== "" && !/\[listener\]|pgrep/.test(line));
  expect(await eventually(others, ({ length }) => length === 0)).toEqual([]);
  expect(await connectionsTo(machine)).toBe(0);
}

describe("SshServerConnections on a real server", () => {
  beforeAll(() => createMany(server));

  test("all users of a login share one connection, and nothing is left after disposal", async () => {
    await using own = await ownConnections();
    const target = server.target("worker");
    const opened = await Promise.all([1, 2, 3].map(() => own.connections.open(target)));
    const read = await Promise.all(opened.map(({ engineAddress }) => inventories.read(engineAddress)));
    expect(read.map(({ containers }) => containers.length)).toEqual([CONTAINERS, CONTAINERS, CONTAINERS]);
    await Promise.all(opened.map((each) => each.readFile("/etc/hostname", { maxBytes: 1_000 })));
    expect(await connectionsTo(server)).toBe(1);
    await Promise.all(opened.map((each) => each[Symbol.asyncDispose]()));
    await using again = await own.connections.open(target);
    expect(again.engineAddress).toBe(opened[0]!.engineAddress);
    expect(await connectionsTo(server)).toBe(1);
    await own.connections[Symbol.asyncDispose]();
    expect(await readdir(own.folder)).toEqual([]);
    await nobodyOn(server);
  });

  test("the socket that leads to the engine is for this user only", async () => {
    await using own = await ownConnections();
    await using connection = await own.connections.open(server.target("worker"));
    const [socketFolder] = await readdir(own.folder, { withFileTypes: true });
    expect(connection.engineAddress).toStartWith(`unix://${own.folder}/${socketFolder!.name}/`);
    const modes = await Bun.$`stat --format %a ${own.folder} ${own.folder}/${socketFolder!.name}`.text();
    expect(modes).toBe("700\n700\n");
  });

  test("a login that is cancelled disturbs nobody who uses the same connection", async () => {
    await using own = await ownConnections();
    const target = server.target("worker");
    await using connection = await own.connections.open(target);
    const reading = inventories.read(connection.engineAddress);
    const late = Array.from({ length: 3 }, () => own.connections.open(target, { signal: AbortSignal.abort() }));
    expect((await Promise.allSettled(late)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
    const leaving = new AbortController();
    const others = [1, 2, 3].map(() => own.connections.open(target, { signal: leaving.signal }));
    leaving.abort();
    await Promise.allSettled(others);
    expect(await connectionsTo(server)).toBe(1);
    expect((await reading).containers).toHaveLength(CONTAINERS);
  });

  test("a connection that broke is made anew, for old users and for new ones", async () => {
    await using own = await ownConnections();
    const target = server.target("worker");
    await using connection = await own.connections.open(target);
    await inventories.read(connection.engineAddress);
    await server.exec(["pkill", "-KILL", "-f", "sshd: worker"]);
    const read = await eventually(
      () => inventories.read(connection.engineAddress),
      () => true,
    );
    expect(read.containers).toHaveLength(CONTAINERS);
    await server.exec(["pkill", "-KILL", "-f", "sshd: worker"]);
    await using another = await own.connections.open(target);
    expect(another.hostKey).toBe(server.hostKey);
    expect(await another.readFile("/etc/hostname", { maxBytes: 1_000 })).toBeInstanceOf(Uint8Array);
    expect(await connectionsTo(server)).toBe(1);
  });

  test("files of a server that transfers none are forbidden, and its engine can be read", async () => {
    const program = "/usr/lib/openssh/sftp-server";
    await server.exec(["mv", program, `${program}.gone`]);
    try {
      await using own = await ownConnections();
      await using connection = await own.connections.open(server.target("worker"));
      expect(await connection.readFile("/etc/hostname", { maxBytes: 1_000 })).toBe("forbidden");
      expect((await inventories.read(connection.engineAddress)).containers).toHaveLength(CONTAINERS);
    } finally {
      await server.exec(["mv", `${program}.gone`, program]);
    }
  });

  test("files of the kernel are empty, and reading them never waits", async () => {
    await using own = await ownConnections();
    await using connection = await own.connections.open(server.target("root"));
    expect(await connection.readFile("/proc/kmsg", { maxBytes: 1_000 })).toHaveLength(0);
    expect(await connection.readFile("/proc/self/environ", { maxBytes: 1_000 })).toHaveLength(0);
    expect(await connection.readFile("/dev/zero", { maxBytes: 1_000 })).toBe("no_file");
  });

  test("an engine of the user is found, where the user may not use another one", async () => {
    const uid = (await server.exec(["id", "-u", "worker"])).trim();
    const [usual, own] = ["/run/docker.sock", `/run/user/${uid}/docker.sock`];
    await server.exec(["sh", "-c", `mkdir -p ${own.replace(/\/[^/]*$/, "")} && mv ${usual} ${own}`]);
    try {
      await expect(server.exec(["docker", "version"], { user: "worker" })).rejects.toThrow("Cannot connect");
      await using mine = await ownConnections();
      await using connection = await mine.connections.open(server.target("worker"));
      expect((await inventories.read(connection.engineAddress)).containers).toHaveLength(CONTAINERS);
    } finally {
      await server.exec(["mv", own, usual]);
    }
  });

  test("a machine that loses power while it is read ends the reading", async () => {
    await using own = await ownConnections();
    await using connection = await own.connections.open(server.target("worker"));
    // An engine that takes requests and does not answer, so that the power is cut in the middle.
    await server.exec(["pkill", "-STOP", "-x", "dockerd"]);
    const reading = inventories.read(connection.engineAddress).catch((error: unknown) => error);
    await server.kill();
    expect(await reading).toMatchObject({ kind: "unavailable", code: "engine_away" });
    const opening = own.connections.open(server.target("worker"));
    await expect(opening).rejects.toMatchObject({ kind: "remote_failed", code: "unreachable" });
    await server.start();
    await using again = await own.connections.open(server.target("worker"));
    expect((await inventories.read(again.engineAddress)).containers).toHaveLength(CONTAINERS);
  });

  test("a machine that hangs ends a login, and the next one works once it goes on", async () => {
    await using own = await ownConnections();
    await server.pause();
    try {
      const opening = own.connections.open(server.target("worker"), { timeoutMs: 1_000 });
      await expect(opening).rejects.toMatchObject({ kind: "remote_failed", code: "timeout" });
    } finally {
      await server.unpause();
    }
    await using connection = await own.connections.open(server.target("worker"));
    const hanging = new AbortController();
    await server.pause();
    try {
      const reading = inventories.read(connection.engineAddress, { signal: hanging.signal });
      hanging.abort(new Error("late"));
      await expect(reading).rejects.toThrow("late");
    } finally {
      await server.unpause();
    }
    expect((await inventories.read(connection.engineAddress)).containers).toHaveLength(CONTAINERS);
  });
});

describe("SshServerConnections on a server that forwards no sockets", () => {
  test("reaches the engine through its program, with few sessions at a time, and leaves none behind", async () => {
    await using strict = await startManagedServer({
      sshdOptions: ["AllowStreamLocalForwarding no", "MaxSessions 10"],
    });
    await strict.loadTinyImage();
    await createMany(strict);
    await using own = await ownConnections();
    await using connection = await own.connections.open(strict.target("worker"));
    const files = Array.from({ length: 10 }, () => connection.readFile("/etc/hostname", { maxBytes: 1_000 }));
    const [one, other] = await Promise.all([
      inventories.read(connection.engineAddress),
      inventories.read(connection.engineAddress),
      ...files,
    ]);
    expect([one.containers.length, other.containers.length]).toEqual([CONTAINERS, CONTAINERS]);
    expect(await connectionsTo(strict)).toBe(1);
    await own.connections[Symbol.asyncDispose]();
    await nobodyOn(strict);
  });
});
