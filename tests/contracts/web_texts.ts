import { describe, expect, test } from "bun:test";
import type { WebTexts } from "../../ports/domains/web_texts.ts";

/** What a web server answers for a host name and a path; `undefined`: with status 404. */
export type WebAnswer = (hostname: string, path: string) => string | undefined;

/** Reads from web servers of the test. */
export interface WebTextsStage extends AsyncDisposable {
  readonly webTexts: WebTexts;
  /** Starts the server at 127.0.0.1. Nothing listens at other addresses. */
  readonly serve: (answer: WebAnswer) => Promise<void>;
}

const REQUEST = { address: "127.0.0.1", hostname: "www.example.test", path: "/.well-known/some/text" };

/** Contract tests for `WebTexts` adapters. */
export function webTextsContract(name: string, open: () => Promise<WebTextsStage>) {
  describe(`WebTexts contract: ${name}`, () => {
    test("read() asks the given address for the host name and the path", async () => {
      await using stage = await open();
      await stage.serve((hostname, path) => `${hostname} ${path}`);
      const text = `${REQUEST.hostname} ${REQUEST.path}`;
      expect(await stage.webTexts.read(REQUEST)).toEqual({ kind: "answered", status: 200, text });
    });

    test("read() returns the status of a server that has no such text", async () => {
      await using stage = await open();
      await stage.serve(() => undefined);
      expect(await stage.webTexts.read(REQUEST)).toMatchObject({ kind: "answered", status: 404 });
    });

    test("read() cuts a long text", async () => {
      await using stage = await open();
      await stage.serve(() => "x".repeat(100_000));
      const answer = await stage.webTexts.read(REQUEST);
      expect(answer).toEqual({ kind: "answered", status: 200, text: "x".repeat(1_024) });
    });

    test("read() reports that nothing listens, and a cancelled request, as unreachable", async () => {
      await using stage = await open();
      expect(await stage.webTexts.read({ ...REQUEST, address: "127.0.0.2" })).toEqual({ kind: "unreachable" });
      await stage.serve(() => "text");
      const signal = AbortSignal.abort();
      expect(await stage.webTexts.read({ ...REQUEST, signal })).toEqual({ kind: "unreachable" });
    });
  });
}
