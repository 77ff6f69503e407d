import { describe, expect, test } from "bun:test";
import type { CommandLineLogin } from "../../ports/githost/command_line_login.ts";
import { NEVER } from "./git_host_stage.ts";

/** Opens the login of a machine whose client has this token, or is not logged in. */
export type OpenCommandLineLogin = (token: string | undefined) => Promise<CommandLineLogin>;

/** Contract tests for `CommandLineLogin` adapters. */
export function commandLineLoginContract(name: string, open: OpenCommandLineLogin) {
  describe(`CommandLineLogin contract: ${name}`, () => {
    test("token() returns the client's token, each time", async () => {
      const login = await open("gho_client");
      expect((await login.token(NEVER))?.reveal()).toBe("gho_client");
      expect((await login.token(NEVER))?.reveal()).toBe("gho_client");
    });

    test("token() is undefined for a client that is not logged in", async () => {
      expect(await (await open(undefined)).token(NEVER)).toBeUndefined();
    });

    test("token() rejects with the reason of an aborted signal", async () => {
      const reason = new Error("No longer wanted");
      await expect((await open("gho_client")).token(AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}
