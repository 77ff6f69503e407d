import { TAR_END, tarHead, tarPadding } from "../../../domain/archive/tar_writer.ts";
import type { BuildContext } from "./build_context.ts";
import { type ContextEntry, contentOf } from "./context_entry.ts";

const NAME = ".slipway.Dockerfile";
const IGNORE = ".dockerignore";

/** A context as a tar stream that contains its Dockerfile under a unique name. */
export interface ContextTar {
  readonly dockerfile: string;
  readonly stream: ReadableStream<Uint8Array>;
}

/**
 * Packs a context, reading each file only on demand. The engine hides the Dockerfile and the `.dockerignore` from build
 * commands if the ignore rules name them; so the rules name the added files, after any rules of the context itself.
 */
export function contextTar({ root, entries, dockerfile }: BuildContext, failed: (reason: unknown) => void): ContextTar {
  const taken = new Set(entries.map(({ path }) => path));
  let name = NAME;
  while (taken.has(name)) name += "_";
  const ignore = entries.find(({ path, kind }) => path === IGNORE && kind === "file");
  const pieces = packed();

  async function* packed(): AsyncGenerator<Uint8Array> {
    yield* packedFile(name, dockerfile.bytes);
    const rules = ignore ? `\n${name}\n` : `${name}\n${IGNORE}\n`;
    yield* packedFile(IGNORE, Buffer.concat([...(ignore ? await chunks(root, ignore) : []), Buffer.from(rules)]));
    for (const entry of entries) if (entry !== ignore) yield* packedEntry(root, entry);
    yield TAR_END;
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          failed(error);
          controller.error(error);
        }
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return { dockerfile: name, stream };
}

function* packedFile(name: string, bytes: Uint8Array): Generator<Uint8Array> {
  yield tarHead({ name, kind: "file", size: bytes.length, mode: 0o644, modifiedMs: 0 });
  if (bytes.length > 0) yield bytes;
  yield* padding(bytes.length);
}

async function* packedEntry(root: string, entry: ContextEntry): AsyncGenerator<Uint8Array> {
  const { path: name, kind, size, mode, modifiedNs, target } = entry;
  yield tarHead({ name, kind, size, mode, modifiedMs: Number(modifiedNs / 1_000_000n), target });
  // A copy, because the consumer may read it after the buffer is refilled.
  if (kind === "file") for await (const bytes of contentOf(root, entry)) yield bytes.slice();
  yield* padding(size);
}

function* padding(size: number): Generator<Uint8Array> {
  const bytes = tarPadding(size);
  if (bytes.length > 0) yield bytes;
}

async function chunks(root: string, entry: ContextEntry): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const bytes of contentOf(root, entry)) all.push(Uint8Array.from(bytes));
  return all;
}
