import { generateKeyPairSync } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, test } from "bun:test";
import type { Connection } from "ssh2";
import { explain } from "../../adapters/ssh/connection_failure.ts";
import { SshRemoteHosts } from "../../adapters/ssh/remote_hosts.ts";
import { Failure, invalid } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import { faultyListener } from "../support/faults/faulty_listener.ts";
import { keyPair } from "../support/inputs/key_pair.ts";
import { eventually } from "../support/eventually.ts";
import { scriptedSshd } from "../support/faults/scripted_sshd.ts";

const hosts = new SshRemoteHosts();
const OTHER_KEY = `SHA256:${"A".repeat(43)}`;
const soon = { timeoutMs: 300 };

function target(port: number) {
  return { host: "127.0.0.1", port, user: "alice", password: new Secret("correct horse") };
}

/** The failure of a connection attempt or command. */
async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const error = await promise.then(
    () => new Error("It succeeded"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error;
  return error;
}

describe("SshRemoteHosts.connect()", () => {
  test("compares the host key before it sends anything about the user", async () => {
    await using server = await scriptedSshd();
    const failure = await failureOf(hosts.connect({ ...server.target, hostKey: OTHER_KEY }));
    expect(failure.code).toBe("host_key_changed");
    expect(server.attempts).toEqual([]);
    await using session = await hosts.connect(server.target);
    expect(failure.message).toContain(session.hostKey);
    expect(server.attempts.length).toBeGreaterThan(0);
  });

  test("says what to do when the connection is refused", async () => {
    const listener = faultyListener("closing");
    listener[Symbol.dispose]();
    const failure = await failureOf(hosts.connect(target(listener.port)));
    expect(failure.message).toBe(
      `Cannot connect to 127.0.0.1:${listener.port}: the connection was refused. Check that sshd runs there and the port is open.`,
    );
  });

  test("reports that the name cannot be resolved", async () => {
    const failure = await failureOf(hosts.connect({ ...target(22), host: "no-such-host.invalid" }));
    expect(failure).toMatchObject({ code: "unreachable", message: expect.stringContaining("cannot be resolved") });
  });

  test("reports that the server does not speak SSH", async () => {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
    const failure = await failureOf(hosts.connect(target(server.port ?? 0)));
    await server.stop(true);
    expect(failure).toMatchObject({ code: "unreachable", message: expect.stringContaining("does not speak SSH") });
  });

  test("gives up on a server whose greeting never ends", async () => {
    using listener = faultyListener("flooding", "hello ");
    const failure = await failureOf(hosts.connect(target(listener.port), soon));
    expect(failure.kind).toBe("remote_failed");
  });

  test("refuses a server that only supports outdated algorithms", async () => {
    await using server = await scriptedSshd({ config: { algorithms: { kex: ["diffie-hellman-group14-sha1"] } } });
    const failure = await failureOf(hosts.connect(server.target));
    expect(failure).toMatchObject({ code: "unreachable", message: expect.stringContaining("Update its SSH server") });
  });

  test("gives up on a server that never answers the login", async () => {
    await using server = await scriptedSshd({ login: () => {} });
    expect(await failureOf(hosts.connect(server.target, soon))).toMatchObject({ code: "timeout" });
  });

  test("reports that the password has expired", async () => {
    await using server = await scriptedSshd({
      login: (attempt) => {
        if (attempt.method === "password") attempt.requestChange("Choose another", () => {});
        else attempt.reject(["password"]);
      },
    });
    const failure = await failureOf(hosts.connect(server.target));
    expect(failure).toMatchObject({ code: "auth_failed", message: expect.stringContaining("expired") });
  });

  test("answers hidden prompts with the password once, and no visible prompt", async () => {
    const answers: string[] = [];
    await using server = await scriptedSshd({
      login: (attempt) => {
        if (attempt.method !== "keyboard-interactive") return attempt.reject(["keyboard-interactive"]);
        const questions = [
          { prompt: "Name?", echo: true },
          { prompt: "Password:", echo: false },
          { prompt: "Again:", echo: false },
        ];
        const keep = (given: string[]) => {
          answers.push(...given);
          if (answers.length === 3) attempt.prompt(questions, keep);
          else attempt.reject(["keyboard-interactive"]);
        };
        attempt.prompt(questions, keep);
      },
    });
    expect(await failureOf(hosts.connect(server.target))).toMatchObject({ code: "auth_failed" });
    expect(answers).toEqual(["", "correct horse", "", "", "", ""]);
  });

  test("does not repeat text of a server that has received the password", async () => {
    await using server = await scriptedSshd({
      login: (attempt) =>
        attempt.reject(attempt.method === "password" ? ["correct horse" as "password"] : ["password"]),
    });
    const refused = await failureOf(hosts.connect(server.target));
    const farewell = Object.assign(new Error("wrong: correct horse"), { code: 2 });
    const nothingTried = { tried: new Set<string>(), offered: [] };
    for (const failure of [refused, explain(farewell, server.target, "login", nothingTried)]) {
      expect(inspect(failure, { depth: 10 })).not.toContain("correct horse");
    }
  });

  test("connects to the resolved address and to nothing else", async () => {
    await using server = await scriptedSshd();
    const resolved: string[] = [];
    const pinned = new SshRemoteHosts({
      resolveAddress: async (host) => {
        resolved.push(host);
        return "127.0.0.1";
      },
    });
    await using session = await pinned.connect({ ...server.target, host: "no-such-host.invalid" });
    expect(session.hostKey).toStartWith("SHA256:");
    expect(resolved).toEqual(["no-such-host.invalid"]);
  });

  test("fails as the resolver does, and times out when it never answers", async () => {
    const refusing = new SshRemoteHosts({
      resolveAddress: () => Promise.reject(invalid("address_refused", "Cannot connect to this address: it is private")),
    });
    expect(await failureOf(refusing.connect(target(22)))).toMatchObject({ kind: "invalid", code: "address_refused" });
    const broken = new SshRemoteHosts({ resolveAddress: () => Promise.reject(new Error("queryA ESERVFAIL")) });
    expect(await failureOf(broken.connect(target(22)))).toMatchObject({ code: "unreachable" });
    const silent = new SshRemoteHosts({ resolveAddress: () => new Promise(() => {}) });
    expect(await failureOf(silent.connect(target(22), soon))).toMatchObject({ code: "timeout" });
  });

  test("does not load ssh2 before it is called", async () => {
    const script = `
      const { SshRemoteHosts } = await import("./adapters/ssh/remote_hosts.ts");
      const loaded = () => Object.keys(require.cache).some((path) => path.includes("node_modules/ssh2/"));
      const hosts = new SshRemoteHosts({ resolveAddress: async () => "127.0.0.1" });
      const before = loaded();
      await hosts.connect({ host: "a", port: 1, user: "u", password: { reveal: () => "p" } }).catch(() => {});
      console.log(before, loaded());`;
    const cwd = new URL("../../", import.meta.url).pathname;
    const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { cwd });
    expect(stdout.toString().trim()).toBe("false true");
  });
});

describe("SshRemoteHosts.connect() with a private key", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const openSsh = keyPair();
  const locked = { format: "pem", cipher: "aes-256-cbc", passphrase: "open sesame" } as const;

  test.each([
    ["OpenSSH", openSsh.private, undefined],
    ["OpenSSH without its last line break", openSsh.private.trim(), undefined],
    ["OpenSSH from Windows", openSsh.private.replaceAll("\n", "\r\n"), undefined],
    ["PKCS #1", rsa.export({ type: "pkcs1", format: "pem" }), undefined],
    ["SEC 1", ec.export({ type: "sec1", format: "pem" }), undefined],
    ["PKCS #8 with RSA", rsa.export({ type: "pkcs8", format: "pem" }), undefined],
    ["PKCS #8 with ECDSA", ec.export({ type: "pkcs8", format: "pem" }), undefined],
    ["PKCS #8 with a passphrase", rsa.export({ type: "pkcs8", ...locked }), "open sesame"],
  ])("accepts the format %s", async (_format, key, passphrase) => {
    await using server = await scriptedSshd({
      login: (attempt) => (attempt.method === "publickey" ? attempt.accept() : attempt.reject(["publickey"])),
    });
    await using session = await hosts.connect({
      ...server.target,
      password: undefined,
      privateKey: new Secret(key.toString()),
      keyPassphrase: passphrase === undefined ? undefined : new Secret(passphrase),
    });
    expect(session.hostKey).toStartWith("SHA256:");
  });

  test.each([
    ["a public key", openSsh.public, undefined, "it is a public key"],
    ["a key cut short", openSsh.private.slice(0, 150), undefined, "its format is not known"],
    ["a locked key without a passphrase", rsa.export({ type: "pkcs8", ...locked }), undefined, "none is given"],
    ["a locked key with another passphrase", rsa.export({ type: "pkcs8", ...locked }), "wrong", "does not open it"],
  ])("explains what is wrong with %s", async (_what, key, passphrase, words) => {
    const failure = await failureOf(
      hosts.connect({
        ...target(1),
        privateKey: new Secret(key.toString()),
        keyPassphrase: passphrase === undefined ? undefined : new Secret(passphrase),
      }),
    );
    expect(failure).toMatchObject({ code: "misconfigured", message: expect.stringContaining(words) });
  });
});

describe("SshSession.run()", () => {
  test.each<[string, (connection: Connection) => void]>([
    ["opens no channel", (connection) => connection.on("session", () => {})],
    ["starts no command", (connection) => connection.on("session", (accept) => accept().on("exec", () => {}))],
    ["sends no answer", (connection) => connection.on("session", (accept) => accept().on("exec", (run) => run()))],
  ])("times out on a server that %s", async (_what, session) => {
    await using server = await scriptedSshd({ session });
    await using connected = await hosts.connect(server.target);
    const failure = await failureOf(connected.run(["id"], { signal: AbortSignal.timeout(100) }));
    expect(failure).toMatchObject({ kind: "remote_failed", code: "timeout" });
  });

  test("fails when the server closes the channel without an exit code", async () => {
    await using server = await scriptedSshd({
      session: (connection) => {
        connection.on("session", (accept) => {
          accept().on("exec", (acceptExec) => acceptExec().end("half an answer"));
        });
      },
    });
    await using session = await hosts.connect(server.target);
    expect(await failureOf(session.run(["id"]))).toMatchObject({ kind: "remote_failed", code: "unreachable" });
  });

  test("sends the signal again when the server missed the first one", async () => {
    const signals: string[] = [];
    await using server = await scriptedSshd({
      session: (connection) => {
        connection.on("session", (accept) => {
          const opened = accept();
          opened.on("exec", (acceptExec) => {
            const channel = acceptExec();
            opened.on("signal", (_accept, _reject, { name }) => {
              signals.push(name);
              if (signals.length === 2) {
                channel.exit("TERM");
                channel.end();
              }
            });
          });
        });
      },
    });
    await using session = await hosts.connect(server.target);
    const stopped = failureOf(session.run(["sleep", "60"], { signal: AbortSignal.timeout(50) }));
    expect(await stopped).toMatchObject({ kind: "remote_failed", code: "timeout" });
    await eventually(
      async () => signals.length,
      (count) => count === 2,
    );
    expect(signals).toEqual(["TERM", "TERM"]);
  });

  test("fails when the server refuses to run commands", async () => {
    await using server = await scriptedSshd({
      session: (connection) => {
        connection.on("session", (accept) => accept().on("exec", (_accept, reject) => reject()));
      },
    });
    await using session = await hosts.connect(server.target);
    expect(await failureOf(session.run(["id"]))).toMatchObject({ kind: "remote_failed", code: "unreachable" });
  });
});
