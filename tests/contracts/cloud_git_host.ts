import { describe, expect, test } from "bun:test";
import type { Secret } from "../../domain/secret.ts";
import type { CloudGitHost } from "../../ports/cloud/cloud_git_host.ts";

/** A cloud that answers with an address, and one that does not. */
export interface CloudStage extends Partial<AsyncDisposable> {
  readonly adapter: CloudGitHost;
  readonly url: string;
  readonly token: Secret;
  readonly answer: string;
  readonly silentUrl: string;
}

const NEVER = new AbortController().signal;

/** Contract tests for `CloudGitHost` adapters. */
export function cloudGitHostContract(name: string, open: () => Promise<CloudStage>) {
  describe(`CloudGitHost contract: ${name}`, () => {
    test("connectUrl() returns the address that the cloud answers with", async () => {
      const { adapter, url, token, answer, [Symbol.asyncDispose]: close } = await open();
      expect(await adapter.connectUrl({ url, token }, NEVER)).toBe(answer);
      await close?.();
    });

    test("connectUrl() rejects with cloud_unreachable where no cloud answers, without the token", async () => {
      const { adapter, silentUrl, token, [Symbol.asyncDispose]: close } = await open();
      const error = await adapter.connectUrl({ url: silentUrl, token }, NEVER).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ kind: "unavailable", code: "cloud_unreachable" });
      expect(Bun.inspect(error, { depth: 10 })).not.toContain(token.reveal());
      await close?.();
    });

    test("connectUrl() rejects with the reason of an aborted signal", async () => {
      const { adapter, url, token, [Symbol.asyncDispose]: close } = await open();
      const reason = new Error("left");
      await expect(adapter.connectUrl({ url, token }, AbortSignal.abort(reason))).rejects.toBe(reason);
      await close?.();
    });
  });
}
