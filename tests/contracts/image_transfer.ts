import { describe, expect, test } from "bun:test";
import type { Failure } from "../../domain/failure.ts";
import type { ImageTransfer } from "../../ports/deployments/image_transfer.ts";

/** A machine with images, and a server that they are sent to. */
export interface ImageTransferForContract extends AsyncDisposable {
  readonly transfer: ImageTransfer;
  /** Transfers of the same images of which one engine is unreachable: that of this machine, or that of the server. */
  readonly away: { readonly here: ImageTransfer; readonly there: ImageTransfer };
  /** Transfers of the same images to a server that never accepts anything, or that stops to read. */
  readonly refusing: ImageTransfer;
  readonly hanging: ImageTransfer;
  /**
   * Creates an image on this machine whose last layers are these texts, as the files `/0`, `/1` and so on; resolves to its
   * digest. The server has all of its other layers.
   */
  make(texts: readonly string[]): Promise<string>;
  /** Returns whether the server has an image. */
  isThere(image: string): Promise<boolean>;
  /** Runs an image on the server, and resolves to a file as the program there reads it. */
  read(image: string, path: string): Promise<string>;
}

const LARGE = 2_000_000;
const SMALL = 3_000;
/** The most that an archive has besides its layers, such as the configuration of the image. */
const FRAME = 100_000;

/** A new text of this length that cannot be compressed well. */
function textOf(length: number): string {
  const id = crypto.randomUUID();
  const parts: string[] = [];
  for (let left = length; left > 0; left -= parts.at(-1)!.length) {
    parts.push(new Bun.CryptoHasher("sha512").update(`${id} ${left}`).digest("base64url"));
  }
  return parts.join("").slice(0, length);
}

/** Sends an image; resolves to what was logged. */
async function sent(transfer: ImageTransfer, image: string, signal = new AbortController().signal): Promise<string[]> {
  const lines: string[] = [];
  await transfer.send(image, { signal, log: (line) => void lines.push(line) });
  return lines;
}

/** The number of layers and bytes that a line reports. */
function amountIn(line: string | undefined) {
  const [, layers, size, unit] =
    /^Sent the image to the server: (\d+) layers?, ([\d.]+) (kB|MB)$/.exec(line ?? "") ?? [];
  return { layers: Number(layers), bytes: Number(size) * (unit === "MB" ? 1_000_000 : 1_000) };
}

function failureOf(work: Promise<unknown>): Promise<Failure> {
  return work.then(
    () => expect.unreachable("It was sent"),
    (error: unknown) => error as Failure,
  );
}

/** Contract tests for `ImageTransfer` adapters. */
export function imageTransferContract(name: string, open: () => Promise<ImageTransferForContract>) {
  describe(`ImageTransfer contract: ${name}`, () => {
    test("send() copies an image that can be run on the server", async () => {
      await using world = await open();
      const text = textOf(SMALL);
      const image = await world.make([text, "second"]);
      expect(await world.isThere(image)).toBe(false);
      const [line, ...more] = await sent(world.transfer, image);
      expect(amountIn(line).layers).toBe(2);
      expect(more).toEqual([]);
      expect(await world.isThere(image)).toBe(true);
      expect(await world.read(image, "/0")).toBe(text);
      expect(await world.read(image, "/1")).toBe("second");
    });

    test("send() of an image that the server has sends nothing", async () => {
      await using world = await open();
      const image = await world.make([textOf(SMALL)]);
      expect(await sent(world.transfer, image)).toHaveLength(1);
      expect(await sent(world.transfer, image)).toEqual([]);
      expect(await world.isThere(image)).toBe(true);
    });

    test("send() leaves out layers that the server has", async () => {
      await using world = await open();
      const [large, first, second] = [textOf(LARGE), textOf(SMALL), textOf(SMALL)];
      const whole = amountIn((await sent(world.transfer, await world.make([large, first])))[0]);
      expect(whole.layers).toBe(2);
      expect(whole.bytes).toBeGreaterThan(LARGE / 2);
      const image = await world.make([large, first, second]);
      const rest = amountIn((await sent(world.transfer, image))[0]);
      expect(rest.layers).toBe(1);
      expect(rest.bytes).toBeLessThan(SMALL + FRAME);
      const files = await Promise.all(["/0", "/1", "/2"].map((path) => world.read(image, path)));
      expect(files).toEqual([large, first, second]);
    });

    test("send() of many images at once copies all of them", async () => {
      await using world = await open();
      const images = await Promise.all(["a", "b", "c"].map((text) => world.make([text])));
      await Promise.all(images.map((image) => sent(world.transfer, image)));
      const files = await Promise.all(images.map((image) => world.read(image, "/0")));
      expect(files).toEqual(["a", "b", "c"]);
    });

    test("send() reports an image that this machine does not have", async () => {
      await using world = await open();
      const error = await failureOf(sent(world.transfer, `sha256:${"0".repeat(64)}`));
      expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
    });

    test("send() reports an image that the server does not accept", async () => {
      await using world = await open();
      const error = await failureOf(sent(world.refusing, await world.make([textOf(LARGE)])));
      expect([error.kind, error.code]).toEqual(["invalid", "image_refused"]);
    });

    test.each(["here", "there"] as const)("send() reports an engine that is away: %s", async (which) => {
      await using world = await open();
      const error = await failureOf(sent(world.away[which], await world.make(["text"])));
      expect([error.kind, error.code]).toEqual(["unavailable", "engine_away"]);
    });

    test("send() that was aborted before it began sends nothing", async () => {
      await using world = await open();
      const image = await world.make([textOf(SMALL)]);
      const reason = new Error("cancelled");
      await expect(sent(world.transfer, image, AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(await world.isThere(image)).toBe(false);
    });

    test("send() ends with the reason of a signal that aborts it meanwhile", async () => {
      await using world = await open();
      const image = await world.make([textOf(LARGE)]);
      const stop = new AbortController();
      const reason = new Error("cancelled");
      const sending = sent(world.hanging, image, stop.signal);
      setTimeout(() => stop.abort(reason), 300);
      await expect(sending).rejects.toBe(reason);
      // What was begun does not prevent another attempt.
      expect(await sent(world.transfer, image)).toHaveLength(1);
      expect(await world.isThere(image)).toBe(true);
    });
  });
}
