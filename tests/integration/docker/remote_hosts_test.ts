import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SshRemoteHosts } from "../../../adapters/ssh/remote_hosts.ts";
import { Secret } from "../../../domain/secret.ts";
import { remoteHostsContract } from "../../contracts/remote_hosts.ts";
import { eventually } from "../../support/eventually.ts";
import { faultyListener } from "../../support/faults/faulty_listener.ts";
import { hostileArguments } from "../../support/inputs/hostile_arguments.ts";
import { keyPair } from "../../support/inputs/key_pair.ts";
import { type SshdContainer, startSshd } from "../../support/peers/sshd_container.ts";

remoteHostsContract("OpenSSH", async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startSshd());
  const [silent, dripping, closing, absent] = [
    stack.use(faultyListener("silent")),
    stack.use(faultyListener("dripping")),
    stack.use(faultyListener("closing")),
    faultyListener("closing"),
  ];
  absent[Symbol.dispose]();
  const kept = stack.move();
  return {
    hosts: new SshRemoteHosts(),
    byPassword: server.alice,
    byKey: server.bob,
    byProtectedKey: server.protectedBob,
    strangerKey: new Secret(keyPair().private),
    absent: { ...server.alice, host: "127.0.0.1", port: absent.port },
    silent: { ...server.alice, host: "127.0.0.1", port: silent.port },
    dripping: { ...server.alice, host: "127.0.0.1", port: dripping.port },
    closing: { ...server.alice, host: "127.0.0.1", port: closing.port },
    changeHostKey: async () => void (await server.exec(["change-host-keys"])),
    breakSessions: async () => void (await server.exec(["break-sessions"])),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
});

describe("SshRemoteHosts on OpenSSH", () => {
  const hosts = new SshRemoteHosts();
  let server: SshdContainer;
  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  test("connect() answers the server's prompt for the password", async () => {
    await using session = await hosts.connect(server.carol);
    expect(await session.run(["whoami"])).toMatchObject({ stdout: "carol\n" });
    const wrong = hosts.connect({ ...server.carol, password: new Secret("wrong password") });
    await expect(wrong).rejects.toMatchObject({ code: "auth_failed" });
  });

  test("connect() sends key and password when both are needed", async () => {
    await using session = await hosts.connect(server.frank);
    expect(await session.run(["whoami"])).toMatchObject({ stdout: "frank\n" });
    const half = hosts.connect({ ...server.frank, password: undefined });
    await expect(half).rejects.toMatchObject({ code: "auth_failed" });
  });

  test("connect() lists the accepted methods when the server accepts none of the credentials", async () => {
    const refused = hosts.connect({ ...server.bob, privateKey: undefined, password: new Secret("any password") });
    await expect(refused).rejects.toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("it does not accept a password from this user (it offers: publickey)"),
    });
  });

  test.each(["ed25519", "ecdsa", "rsa"])(
    "connect() finds the expected host key when it is the %s one",
    async (kind) => {
      const line = await server.exec(["ssh-keygen", "-lf", `/etc/ssh/ssh_host_${kind}_key.pub`]);
      const hostKey = line.split(" ")[1] ?? "";
      await using session = await hosts.connect({ ...server.bob, hostKey });
      expect(session.hostKey).toBe(hostKey);
    },
  );

  test.each(["dora", "erin"] as const)("run() passes exact arguments through the shell of %s", async (user) => {
    await using session = await hosts.connect(server[user]);
    const { stdout } = await session.run(["show-arguments", ...hostileArguments]);
    expect(stdout.split("\0").slice(0, -1)).toEqual([...hostileArguments]);
  });

  test("run() returns 128 and its number for a program that a signal ended", async () => {
    await using session = await hosts.connect(server.bob);
    expect(await session.run(["sh", "-c", "kill -KILL $$"])).toMatchObject({ exitCode: 137 });
  });

  test("run() gives a program an empty input", async () => {
    await using session = await hosts.connect(server.bob);
    expect(await session.run(["cat"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("run() stops the program when its signal is aborted", async () => {
    await using session = await hosts.connect(server.bob);
    const stopped = session.run(["sleep", "7654"], { signal: AbortSignal.timeout(200) });
    await expect(stopped).rejects.toMatchObject({ code: "timeout" });
    const running = async () => (await session.run(["pgrep", "-f", "^sleep 7654"])).stdout;
    expect(await eventually(running, (left) => left === "")).toBe("");
  });
});
