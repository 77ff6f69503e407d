import { describe, expect, test } from "bun:test";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { DockerImageTransfer } from "../../../adapters/docker/images/image_transfer.ts";
import { TAR_END, tarHead, tarPadding } from "../../../domain/archive/tar_writer.ts";
import { filesOf } from "../../contracts/release_images.ts";
import { eventually } from "../../support/eventually.ts";

const IMAGE = `sha256:${"a".repeat(64)}`;
const OTHER = `sha256:${"b".repeat(64)}`;
const LAYERS = ["sha256:1", "sha256:2"];
const FILES = { "1.tar": "first", "2.tar": "second", "manifest.json": '[{"Layers":["1.tar","2.tar"]}]' };

/** Answers a request to an engine; `undefined` stands for 404. */
type Answer = (path: string, request: Request) => Response | undefined | Promise<Response | undefined>;

function engine(answer: Answer): { readonly api: EngineApi } & Disposable {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname.replace(/^\/v[\d.]+/, "");
      return (await answer(path, request)) ?? Response.json({ message: "not there" }, { status: 404 });
    },
  });
  const api = new EngineApi(`tcp://127.0.0.1:${server.port}`);
  return { api, [Symbol.dispose]: () => void server.stop(true) };
}

const inspected = (layers: readonly string[]) => Response.json({ RootFS: { Layers: layers } });

function archive(): Uint8Array<ArrayBuffer> {
  const parts = Object.entries(FILES).flatMap(([name, text]) => {
    const bytes = new TextEncoder().encode(text);
    const head = tarHead({ kind: "file", name, size: bytes.length, mode: 0o644, modifiedMs: 0 });
    return [head, bytes, tarPadding(bytes.length)];
  });
  return new Uint8Array(Buffer.concat([...parts, TAR_END]));
}

/** The engine of this machine, which has one image; without an archive of its own it exports a small one. */
function here(exported: () => Response = () => new Response(archive())) {
  return engine((path) => {
    if (path === `/images/${IMAGE}/json`) return inspected(LAYERS);
    return path === `/images/${IMAGE}/get` ? exported() : undefined;
  });
}

/** An archive without an end, of one file that grows. Notes when nobody wants it any more. */
function endless() {
  const seen = { isLeft: false };
  const head = tarHead({ kind: "file", name: "1.tar", size: 2 ** 32, mode: 0o644, modifiedMs: 0 });
  const exported = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(head),
        async pull(controller) {
          await Bun.sleep(1);
          controller.enqueue(new Uint8Array(65_536));
        },
        cancel: () => void (seen.isLeft = true),
      }),
    );
  return { exported, seen };
}

/** Sends the image, and resolves to what was logged. */
async function sent(from: EngineApi, to: EngineApi, signal = new AbortController().signal): Promise<string[]> {
  const lines: string[] = [];
  await new DockerImageTransfer({ from, to }).send(IMAGE, { signal, log: (line) => void lines.push(line) });
  return lines;
}

describe("DockerImageTransfer", () => {
  test("sends every layer to an engine that needs them, although it has some", async () => {
    const received: string[][] = [];
    using from = here();
    using to = engine(async (path, request) => {
      if (path === "/images/json") return Response.json([{ Id: OTHER }]);
      if (path === `/images/${OTHER}/json`) return inspected(LAYERS.slice(0, 1));
      const isWhole = received.at(-1)?.includes("1.tar") ?? false;
      if (path === `/images/${IMAGE}/json`) return isWhole ? inspected(LAYERS) : undefined;
      received.push(Object.keys(await filesOf(request.body!)));
      return Response.json({});
    });
    expect(await sent(from.api, to.api)).toEqual(["Sent the image to the server: 2 layers, 5 kB"]);
    expect(received).toEqual([["2.tar", "manifest.json"], Object.keys(FILES)]);
  });

  test("reports an engine that refuses an archive before it has read it, and stops to export it", async () => {
    const { exported, seen } = endless();
    using from = here(exported);
    using to = engine((path) => {
      if (path === "/images/json") return Response.json([]);
      return path === "/images/load" ? Response.json({ message: "no space left" }, { status: 500 }) : undefined;
    });
    await expect(sent(from.api, to.api)).rejects.toMatchObject({ kind: "invalid", code: "image_refused" });
    expect(await eventually(async () => seen.isLeft, Boolean)).toBe(true);
  });

  test("reports that the engine of this machine broke off, not the server", async () => {
    const { exported } = endless();
    using from = here(exported);
    using to = engine(async (path, request) => {
      if (path === "/images/json") return Response.json([]);
      if (path !== "/images/load") return undefined;
      setTimeout(() => from[Symbol.dispose](), 50);
      await request.arrayBuffer().catch(() => {});
      return Response.json({});
    });
    const error = await sent(from.api, to.api).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ kind: "unavailable", code: "engine_away" });
    expect((error as Error).message).toStartWith("Cannot use Docker: its response ended early");
  });

  test.each(["the first question", "the list of images", "the archive"])(
    "ends at once when it is aborted while the server does not answer %s",
    async (what) => {
      const { exported, seen } = endless();
      using from = here(exported);
      const stop = new AbortController();
      const reason = new Error("cancelled");
      const never = () => {
        setTimeout(() => stop.abort(reason), 10);
        return new Promise<undefined>(() => {});
      };
      using to = engine((path) => {
        if (path === "/images/json") return what === "the list of images" ? never() : Response.json([]);
        if (path === "/images/load") return never();
        return what === "the first question" ? never() : undefined;
      });
      await expect(sent(from.api, to.api, stop.signal)).rejects.toBe(reason);
      if (what === "the archive") expect(await eventually(async () => seen.isLeft, Boolean)).toBe(true);
    },
  );
});
