import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { RemoteHosts, RemoteSession, RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import { hostileArguments } from "../support/inputs/hostile_arguments.ts";

/**
 * A network to test an adapter on. The machine behind the logins has four programs: `show-arguments` prints each
 * argument and a NUL; `say OUT ERR CODE` prints to stdout and stderr and exits with that code; `flood N` prints "ä" N
 * times to both streams; `wait-long` runs for minutes.
 */
export interface RemoteNetwork extends AsyncDisposable {
  readonly hosts: RemoteHosts;
  readonly byPassword: RemoteTarget;
  readonly byKey: RemoteTarget;
  readonly byProtectedKey: RemoteTarget;
  /** A valid private key that no machine accepts. */
  readonly strangerKey: Secret;
  /** Nothing listens here. */
  readonly absent: RemoteTarget;
  /** Accepts the connection and sends nothing. */
  readonly silent: RemoteTarget;
  /** Sends a byte now and then, without end. */
  readonly dripping: RemoteTarget;
  /** Accepts the connection and closes it. */
  readonly closing: RemoteTarget;
  /** Changes the machine's host key; open sessions stay. */
  changeHostKey(): Promise<void>;
  /** Breaks the sessions of the machine's users. */
  breakSessions(): Promise<void>;
}

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;
const OTHER_KEY = `SHA256:${"A".repeat(43)}`;

/** Contract tests for `RemoteHosts` adapters. */
export function remoteHostsContract(name: string, open: () => Promise<RemoteNetwork>) {
  describe(`RemoteHosts contract: ${name}`, () => {
    let network: RemoteNetwork;
    beforeAll(async () => {
      network = await open();
    });
    afterAll(async () => {
      await network?.[Symbol.asyncDispose]();
    });

    /** The failure of a connection attempt. Also checks that it contains no secrets. */
    async function refusal(
      target: RemoteTarget,
      options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
    ): Promise<Failure> {
      const error = await network.hosts.connect(target, options).then(
        async (session) => {
          await session[Symbol.asyncDispose]();
          throw new Error("The attempt succeeded");
        },
        (reason: unknown) => reason,
      );
      if (!(error instanceof Failure)) throw error;
      const shown = inspect(error, { depth: 10 }) + JSON.stringify(error) + error.message;
      for (const secret of [target.password, target.keyPassphrase, target.privateKey]) {
        for (const line of secret?.reveal().split("\n") ?? []) {
          if (line.length > 3 && !line.startsWith("-----")) expect(shown).not.toContain(line);
        }
      }
      expect(error.message).toStartWith("Cannot ");
      return error;
    }

    async function enter(): Promise<RemoteSession> {
      return network.hosts.connect(network.byKey);
    }

    describe("connect()", () => {
      test.each(["byPassword", "byKey", "byProtectedKey"] as const)("logs in %s", async (login) => {
        await using session = await network.hosts.connect(network[login]);
        expect(await session.run(["say", "hello", "", "0"])).toEqual({ exitCode: 0, stdout: "hello", stderr: "" });
      });

      test("reports the fingerprint of the machine, the same each time", async () => {
        await using one = await enter();
        await using other = await network.hosts.connect(network.byPassword);
        expect(one.hostKey).toMatch(FINGERPRINT);
        expect(other.hostKey).toBe(one.hostKey);
      });

      test("accepts the expected host key", async () => {
        await using first = await enter();
        await using second = await network.hosts.connect({ ...network.byPassword, hostKey: first.hostKey });
        expect(second.hostKey).toBe(first.hostKey);
      });

      test("refuses another host key than the expected one, with any credentials, and names both", async () => {
        await using session = await enter();
        for (const password of [network.byPassword.password, new Secret("wrong password")]) {
          const failure = await refusal({ ...network.byPassword, password, hostKey: OTHER_KEY });
          expect(failure).toMatchObject({ kind: "conflict", code: "host_key_changed" });
          expect(failure.message).toContain(OTHER_KEY);
          expect(failure.message).toContain(session.hostKey);
        }
      });

      test("refuses a wrong password, an unknown user and an unknown key with auth_failed", async () => {
        const { byPassword, byKey, strangerKey } = network;
        const wrong = [
          { ...byPassword, password: new Secret("wrong password") },
          { ...byPassword, user: "unknown-user" },
          { ...byKey, privateKey: strangerKey },
        ];
        for (const target of wrong) {
          expect(await refusal(target)).toMatchObject({ kind: "remote_failed", code: "auth_failed" });
        }
      });

      test("refuses unusable credentials with misconfigured", async () => {
        const { byPassword, byKey, byProtectedKey } = network;
        const unusable = [
          { ...byPassword, password: undefined },
          { ...byKey, privateKey: new Secret("not a key at all") },
          { ...byKey, privateKey: new Secret("") },
          { ...byProtectedKey, keyPassphrase: undefined },
          { ...byProtectedKey, keyPassphrase: new Secret("wrong passphrase") },
        ];
        for (const target of unusable) {
          expect(await refusal(target)).toMatchObject({ kind: "remote_failed", code: "misconfigured" });
        }
      });

      test.each([
        ["host", ""],
        ["host", "-oProxyCommand=id"],
        ["host", "a b"],
        ["host", "a\nb"],
        ["host", "a\0b"],
        ["port", 0],
        ["port", 65_536],
        ["user", ""],
        ["user", "root\n"],
        ["user", "root\0"],
      ])("refuses the %s %j with misconfigured", async (field, value) => {
        expect(await refusal({ ...network.byPassword, [field]: value })).toMatchObject({ code: "misconfigured" });
      });

      test("reports unreachable where nothing listens and where the connection is closed immediately", async () => {
        for (const target of [network.absent, network.closing]) {
          expect(await refusal(target)).toMatchObject({ kind: "remote_failed", code: "unreachable" });
        }
      });

      test.each(["silent", "dripping"] as const)("gives up on a %s machine with timeout", async (machine) => {
        const failure = await refusal(network[machine], { timeoutMs: 300 });
        expect(failure).toMatchObject({ kind: "remote_failed", code: "timeout" });
      });

      test("ends when its signal aborts, before and during the attempt", async () => {
        expect(await refusal(network.byKey, { signal: AbortSignal.abort() })).toMatchObject({ code: "timeout" });
        const signal = AbortSignal.timeout(50);
        expect(await refusal(network.silent, { signal })).toMatchObject({ kind: "remote_failed", code: "timeout" });
      });
    });

    describe("run()", () => {
      test("passes on exactly the given arguments", async () => {
        await using session = await enter();
        const { stdout, exitCode } = await session.run(["show-arguments", ...hostileArguments]);
        expect(stdout.split("\0").slice(0, -1)).toEqual([...hostileArguments]);
        expect(exitCode).toBe(0);
      });

      test("keeps both streams and the exit code separate", async () => {
        await using session = await enter();
        expect(await session.run(["say", "grün\n", "日本", "3"])).toEqual({
          exitCode: 3,
          stdout: "grün\n",
          stderr: "日本",
        });
      });

      test("ends with 127 for a missing program of any name", async () => {
        await using session = await enter();
        for (const missing of ["no-such-program", "$(say x y 0)", "-x", "A=B", "a b"]) {
          const result = await session.run([missing, "x"]);
          expect(result).toMatchObject({ exitCode: 127, stdout: "" });
        }
      });

      test("cuts each stream at maxBytes, between characters", async () => {
        await using session = await enter();
        const { stdout, stderr } = await session.run(["flood", "1000"], { maxBytes: 101 });
        expect(stdout).toBe("ä".repeat(50));
        expect(stderr).toBe("ä".repeat(50));
      });

      test("keeps 1 MiB of each stream by default, and reads on to the end", async () => {
        await using session = await enter();
        const { stdout, stderr, exitCode } = await session.run(["flood", "3000000"]);
        expect(exitCode).toBe(0);
        expect(stdout.length).toBe(524_288);
        expect(stderr.length).toBe(524_288);
      });

      test("runs several programs concurrently", async () => {
        await using session = await enter();
        const results = await Promise.all(["a", "b", "c", "d"].map((word) => session.run(["say", word, "", "0"])));
        expect(results.map(({ stdout }) => stdout)).toEqual(["a", "b", "c", "d"]);
      });

      test("ends when its signal aborts, and the session continues", async () => {
        await using session = await enter();
        for (const signal of [AbortSignal.abort(), AbortSignal.timeout(100)]) {
          const waiting = session.run(["wait-long"], { signal });
          await expect(waiting).rejects.toMatchObject({ kind: "remote_failed", code: "timeout" });
        }
        expect(await session.run(["say", "still here", "", "0"])).toMatchObject({ stdout: "still here" });
      });

      test("refuses an empty command and a NUL character", async () => {
        await using session = await enter();
        for (const argv of [[], [""], ["say", "a\0b"]]) {
          await expect(session.run(argv)).rejects.toMatchObject({ kind: "invalid" });
        }
      });

      test("fails when the connection breaks", async () => {
        await using session = await enter();
        const outcome = session.run(["wait-long"]).catch((error: unknown) => error);
        await session.run(["say", "", "", "0"]);
        await network.breakSessions();
        expect(await outcome).toMatchObject({ kind: "remote_failed", code: "unreachable" });
        await expect(session.run(["say", "", "", "0"])).rejects.toMatchObject({ code: "unreachable" });
      });

      test("fails after the session is disposed, which may happen twice", async () => {
        const session = await enter();
        await session[Symbol.asyncDispose]();
        await session[Symbol.asyncDispose]();
        await expect(session.run(["say", "", "", "0"])).rejects.toMatchObject({ code: "unreachable" });
      });

      test("ends running programs when the session is disposed", async () => {
        const session = await enter();
        const outcome = session.run(["wait-long"]).catch((error: unknown) => error);
        await session[Symbol.asyncDispose]();
        expect(await outcome).toMatchObject({ kind: "remote_failed", code: "unreachable" });
      });
    });

    test("connect() refuses the old host key after a change, and accepts the new one", async () => {
      await using before = await enter();
      await network.changeHostKey();
      const failure = await refusal({ ...network.byKey, hostKey: before.hostKey });
      expect(failure).toMatchObject({ kind: "conflict", code: "host_key_changed" });
      await using after = await enter();
      expect(after.hostKey).toMatch(FINGERPRINT);
      expect(after.hostKey).not.toBe(before.hostKey);
      expect(failure.message).toContain(after.hostKey);
    });
  });
}
