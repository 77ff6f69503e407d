import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GhLogin } from "../../adapters/githost/gh_login.ts";
import { Secret } from "../../domain/secret.ts";
import { commandLineLoginContract } from "../contracts/command_line_login.ts";
import { NEVER } from "../contracts/git_host_stage.ts";

const WEB_URL = "https://git.example.com";
let folder: string;
let programs = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "slipway-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes a client that does this. */
async function program(script: string): Promise<string> {
  const path = join(folder, `gh-${programs++}`);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

commandLineLoginContract("gh", async (token) => {
  const script = token === undefined ? "echo 'no oauth token found' >&2; exit 1" : `echo ${token}`;
  return new GhLogin({ webUrl: WEB_URL, program: await program(script) });
});

commandLineLoginContract("configured", async (token) => {
  const configured = token === undefined ? undefined : new Secret(token);
  return new GhLogin({ webUrl: WEB_URL, token: configured, program: "no-such-client" });
});

test("the client is asked for the host of the web address, once for several callers", async () => {
  const calls = join(folder, "calls");
  const login = new GhLogin({ webUrl: `${WEB_URL}/`, program: await program(`echo "$@" >> ${calls}; echo gho_x`) });
  await Promise.all([login.token(NEVER), login.token(NEVER)]);
  await login.token(NEVER);
  expect(await readFile(calls, "utf8")).toBe("auth token --hostname git.example.com\n");
});

test.each(["exit 0", "echo two words", "printf 'two\\nlines'", "printf '\\001'", "kill -9 $$"])(
  "a client that does %j is not logged in",
  async (script) => {
    const login = new GhLogin({ webUrl: WEB_URL, program: await program(script) });
    expect(await login.token(NEVER)).toBeUndefined();
  },
);

test.each(["exec sleep 600", "sleep 6"])(
  "a client that hangs by %j is not logged in; aborting ends the wait",
  async (script) => {
    const login = new GhLogin({ webUrl: WEB_URL, program: await program(script) });
    const aborting = new AbortController();
    const aborted = login.token(aborting.signal).catch((error: unknown) => error);
    const waiting = login.token(NEVER);
    const reason = new Error("Enough");
    aborting.abort(reason);
    expect(await aborted).toBe(reason);
    expect(await waiting).toBeUndefined();
  },
  30_000,
);
