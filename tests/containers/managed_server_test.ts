import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Channel, Client } from "ssh2";
import { SshRemoteHosts } from "../../adapters/ssh/remote_hosts.ts";
import type { CommandResult } from "../../ports/servers/remote_hosts.ts";
import { eventually } from "../support/eventually.ts";
import { type ManagedServer, type ManagedUser, startManagedServer } from "../support/peers/managed_server.ts";

const SOCKET = "/var/run/docker.sock";
const WEB = ["sh", "-c", "echo hello >/srv/index.html; exec httpd -f -p 8080 -h /srv"];
const hosts = new SshRemoteHosts();

async function over(server: ManagedServer, user: ManagedUser, argv: readonly string[]): Promise<CommandResult> {
  await using session = await hosts.connect(server.target(user));
  return await session.run(argv);
}

/** The engine's answer to a ping through a forwarded socket. Rejects if the server refuses to forward it. */
async function pingOver(server: ManagedServer, username: ManagedUser): Promise<string> {
  const { host, port, privateKey } = server;
  const client = new Client();
  try {
    const ready = Promise.withResolvers<void>();
    client.on("ready", ready.resolve).on("error", ready.reject).connect({ host, port, username, privateKey });
    await ready.promise;
    const opened = Promise.withResolvers<Channel>();
    client.openssh_forwardOutStreamLocal(SOCKET, (error, stream) =>
      error ? opened.reject(error) : opened.resolve(stream),
    );
    const channel = await opened.promise;
    channel.write("GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n");
    let answer = "";
    for await (const data of channel) answer += String(data);
    return answer;
  } finally {
    client.end();
  }
}

describe("startManagedServer()", () => {
  let server: ManagedServer;
  beforeAll(async () => {
    server = await startManagedServer();
    await server.loadTinyImage();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  test.each(["root", "worker"] as const)("lets %s log in and use its engine", async (user) => {
    expect(await over(server, user, ["whoami"])).toMatchObject({ stdout: `${user}\n` });
    const version = await over(server, user, ["docker", "version", "--format", "{{.Server.Os}}"]);
    expect(version).toMatchObject({ exitCode: 0, stdout: "linux\n" });
  });

  test("lets the outsider log in, but not use its engine", async () => {
    expect(await over(server, "outsider", ["whoami"])).toMatchObject({ stdout: "outsider\n" });
    const refused = await over(server, "outsider", ["docker", "version"]);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain("permission denied");
  });

  test("forwards the socket of its engine to those who may use it", async () => {
    expect(await pingOver(server, "worker")).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nOK$/);
    await expect(pingOver(server, "outsider")).rejects.toThrow("open failed");
  });

  test("runs containers, which the engine starts again after a stop and after a power cut", async () => {
    const run = ["run", "--detach", "--name", "web", "--restart", "always", "--publish", "8080:8080"];
    await server.docker([...run, "tiny", ...WEB]);
    const inside = () => server.docker(["exec", "web", "wget", "-qO-", "http://127.0.0.1:8080/"]);
    expect(await eventually(inside, () => true)).toBe("hello");
    const outside = async () => (await fetch(`http://${server.address}:8080/`, { keepalive: false })).text();
    const answers = async () => expect(await eventually(outside, () => true)).toBe("hello\n");
    await answers();

    await server.stopEngine();
    await expect(server.docker(["version"])).rejects.toThrow("Cannot connect to the Docker daemon");
    expect(await over(server, "worker", ["whoami"])).toMatchObject({ stdout: "worker\n" });
    await server.startEngine();
    await answers();

    await server.kill();
    await expect(hosts.connect(server.target("root"))).rejects.toMatchObject({ code: "unreachable" });
    await server.start();
    await answers();
    await server.docker(["rm", "--force", "web"]);
  });

  test("hangs while it is paused", async () => {
    await server.pause();
    try {
      const connecting = hosts.connect(server.target("root"), { timeoutMs: 1_000 });
      await expect(connecting).rejects.toMatchObject({ code: "timeout" });
    } finally {
      await server.unpause();
    }
    expect(await over(server, "root", ["whoami"])).toMatchObject({ stdout: "root\n" });
  });

  test("takes settings of sshd", async () => {
    await using strict = await startManagedServer({ sshdOptions: ["AllowStreamLocalForwarding no"] });
    await expect(pingOver(strict, "root")).rejects.toThrow("open failed");
    expect(await over(strict, "root", ["docker", "info"])).toMatchObject({ exitCode: 0 });
  });
});
