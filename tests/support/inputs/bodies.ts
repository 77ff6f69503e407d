import { randomInput } from "./random_input.ts";

const CHUNK = 1024 * 1024;

/** No two bodies begin with the same bytes. */
const input = randomInput("bodies");

/** A stream of generated, unbuffered bytes and their digest. */
export interface Body {
  readonly stream: ReadableStream<Uint8Array>;
  /** Available once the stream has been read to its end. */
  digest(): string;
}

/** Incompressible, non-repeating bytes, generated on demand in chunks of varying sizes. */
export function body(bytes: number): Body {
  const hasher = new Bun.CryptoHasher("sha256");
  const noise = input.bytes(CHUNK);
  let left = bytes;
  let digest: string | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (left === 0) return controller.close();
        const size = Math.min(left, left % 3 === 0 ? CHUNK - 77 : CHUNK);
        const chunk = noise.slice(0, size);
        new DataView(chunk.buffer).setUint8(size - 1, left % 251);
        hasher.update(chunk);
        left -= size;
        controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, digest: () => (digest ??= hasher.digest("hex")) };
}

/** A stream of this text. */
export function textBody(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream();
}

/** A stream that yields `bytes` bytes and then hangs or fails with an error. */
export function brokenBody(bytes: number, then: "hangs" | Error): ReadableStream<Uint8Array> {
  const { stream } = body(bytes);
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        if (then instanceof Error) return controller.error(then);
        await new Promise<never>(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}

/** The size and digest of a stream, computed without buffering it. */
export async function digestOf(stream: ReadableStream<Uint8Array> | undefined) {
  if (!stream) return undefined;
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const chunk of stream) {
    hasher.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, digest: hasher.digest("hex") };
}

/** Reads a stream as text. */
export async function textOf(stream: ReadableStream<Uint8Array> | undefined): Promise<string | undefined> {
  return stream && (await new Response(stream).text());
}
