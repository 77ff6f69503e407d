import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DockerEngineInventories } from "../../adapters/docker/inventory/engine_inventories.ts";
import { LibraryYamlReader } from "../../adapters/yaml/library_yaml_reader.ts";
import { type Answer, memoryApp } from "../support/apps/app.ts";
import { ownConnections, removeEngine } from "../support/apps/managed_stage.ts";
import { Migrating, type ServerOverrides } from "../support/apps/migrating.ts";
import { eventually } from "../support/eventually.ts";
import { faultyListener } from "../support/faults/faulty_listener.ts";
import { keyPair } from "../support/inputs/key_pair.ts";
import { type ManagedServer, startManagedServer } from "../support/peers/managed_server.ts";

let server: ManagedServer;
beforeAll(async () => {
  server = await startManagedServer();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

interface Scene extends AsyncDisposable {
  readonly migrating: Migrating;
}

/** The application with connections of its own to the server. `timeoutMs` is the limit of a login. */
async function scene(
  overrides: ServerOverrides = {},
  { timeoutMs }: { readonly timeoutMs?: number } = {},
): Promise<Scene> {
  const own = await ownConnections();
  const { connections } = own;
  const app = await memoryApp({}, () => ({
    serverConnections: {
      open: (target, options) => connections.open(target, { ...options, ...(timeoutMs && { timeoutMs }) }),
    },
    engineInventories: new DockerEngineInventories(),
    yamlReader: new LibraryYamlReader(),
  }));
  const migrating = await Migrating.of(app, server, { user: "worker", ...overrides });
  return { migrating, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
}

/** Expects a scan and an adoption to fail alike, and the server to remember why. */
async function expectFailure(migrating: Migrating, code: string, error: string): Promise<void> {
  expect(failureOf(await migrating.scan())).toEqual({ status: 502, success: false, code, error });
  expect(failureOf(await migrating.adopt("Shop", ["web"]))).toEqual({ status: 502, success: false, code, error });
  const { body } = await migrating.call("GET", `/api/servers/${migrating.serverId}`);
  expect(body.data.lastCheckError).toBe(error);
}

function failureOf({ body, status }: Answer) {
  const { code, error, success } = body;
  return { status, success, code, error };
}

/** Makes the server restart sshd, and ends all of its sessions. */
async function restartSshd(): Promise<void> {
  await server.exec(["kill", "-HUP", "1"]);
  // Fails if there is no session.
  await server.exec(["pkill", "-KILL", "-f", "sshd: worker"]).catch(() => {});
}

const place = () => `${server.host}:${server.port}`;

describe("scanning and adopting fail", () => {
  test("where nothing listens", async () => {
    const absent = faultyListener("closing");
    absent[Symbol.dispose]();
    await using failing = await scene({ sshPort: absent.port });
    const why = "the connection was refused. Check that sshd runs there and the port is open.";
    await expectFailure(failing.migrating, "unreachable", `Cannot connect to ${server.host}:${absent.port}: ${why}`);
  });

  test("with a wrong key", async () => {
    await using failing = await scene({ sshPrivateKey: keyPair().private });
    const why =
      "the user name or the private key was rejected. Check that the public key is in this user's authorized_keys.";
    await expectFailure(failing.migrating, "auth_failed", `Cannot log in to ${place()} as "worker": ${why}`);
  });

  test("with a changed host key", async () => {
    await using failing = await scene();
    const { migrating } = failing;
    expect((await migrating.scan()).status).toBe(200);
    const make =
      "cd /etc/ssh && mv host_key kept && ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -lf host_key";
    const changed = (await server.exec(["sh", "-c", make])).split(" ")[1];
    await restartSshd();
    await eventually(
      () => migrating.scan(),
      ({ body }) => body.code === "host_key_changed",
    );
    const why = `its host key is ${changed}, expected is ${server.hostKey}`;
    const next = "Accept the new key only if you know why it changed.";
    await expectFailure(migrating, "host_key_changed", `Cannot trust ${place()}: ${why}. ${next}`);
    await server.exec(["mv", "/etc/ssh/kept", "/etc/ssh/host_key"]);
    await restartSshd();
    const { body } = await eventually(
      () => migrating.scan(),
      ({ status }) => status === 200,
    );
    expect(body.success).toBe(true);
  });

  test("for a user who may not use the engine", async () => {
    await using failing = await scene({ user: "outsider" });
    const why = 'the user "outsider" may not use its container engine';
    const next = "Add the user to the docker group there, or use another user";
    const sentence = `Cannot use the containers of ${place()}: ${why}. ${next}`;
    await expectFailure(failing.migrating, "engine_forbidden", sentence);
  });

  test("while the engine is stopped, also over a connection that is open", async () => {
    await using open = await scene();
    expect((await open.migrating.scan()).status).toBe(200);
    await using fresh = await scene();
    await server.stopEngine();
    const sentence = `Cannot use the containers of ${place()}: its Docker Engine does not run. Start it there`;
    await expectFailure(open.migrating, "engine_stopped", sentence);
    await expectFailure(fresh.migrating, "engine_stopped", sentence);
    await server.startEngine();
    expect((await open.migrating.scan()).status).toBe(200);
  });

  test("when the machine loses power meanwhile", async () => {
    await using failing = await scene();
    const { migrating } = failing;
    // An engine that takes requests and does not answer, so that the power is cut in the middle.
    await server.exec(["pkill", "-STOP", "-x", "dockerd"]);
    const scanning = migrating.scan();
    // Two connections find the engine, the others ask it something.
    const waiting = async () => /^\S+ +\S+ +(\d+) .*run\/docker\.sock/m.exec(await server.exec(["ss", "-Hxl"]))?.[1];
    await eventually(waiting, (count) => Number(count) > 2);
    await server.kill();
    const error = `Cannot inspect "${migrating.name}": its container engine stopped answering. Check that it runs there, then try again`;
    expect(failureOf(await scanning)).toEqual({ status: 502, success: false, code: "engine_stopped", error });
    expect(failureOf(await migrating.scan())).toMatchObject({ status: 502, code: "unreachable" });
    await server.start();
    expect((await migrating.scan()).status).toBe(200);
  });

  test("while the machine hangs", async () => {
    await using failing = await scene({}, { timeoutMs: 1_000 });
    await server.pause();
    try {
      const why = "no login within 1 s. Check the address, and that no firewall drops the connection.";
      await expectFailure(failing.migrating, "timeout", `Cannot connect to ${place()}: ${why}`);
    } finally {
      await server.unpause();
    }
  });

  test("where no engine is installed", async () => {
    await removeEngine(server);
    await using failing = await scene();
    const why = "no container engine is installed there. Install Docker or Podman first";
    await expectFailure(failing.migrating, "engine_missing", `Cannot use the containers of ${place()}: ${why}`);
  });
});
