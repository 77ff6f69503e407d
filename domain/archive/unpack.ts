import { Failure } from "../failure.ts";
import { type ArchiveLimits, checkUnpackedBytes } from "./archive_limits.ts";
import { ArchiveTree } from "./archive_tree.ts";
import { Intake } from "./intake.ts";
import { refusal } from "./refusal.ts";
import { type TarEntry, TarReader } from "./tar_reader.ts";

/** The next step of unpacking an archive into an empty folder; every path is relative and safe there. */
export type UnpackStep =
  | { readonly type: "folder"; readonly path: string }
  /** Exactly `size` bytes follow as `bytes` steps. If `replaces` is set, the existing file must be removed first. */
  | {
      readonly type: "file";
      readonly path: string;
      readonly size: number;
      readonly executable: boolean;
      readonly replaces: boolean;
    }
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  /** Symlinks come after all files, so that no file can be written through one. */
  | { readonly type: "link"; readonly path: string; readonly target: string }
  /** The whole archive was read and is valid. */
  | { readonly type: "end"; readonly bytes: number; readonly files: number };

/** Options of `unpack`. */
export interface UnpackOptions {
  readonly limits: ArchiveLimits;
  readonly signal?: AbortSignal | undefined;
  /** Whether the tar is uncompressed instead of gzipped. */
  readonly plain?: boolean;
  /** Called with the compressed bytes as they arrive. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/**
 * Streams a tar (gzipped by default) as unpack steps; memory use is bounded by the limits, not by the size of the
 * files. Throws a `Failure` at the first refused entry, or the signal's reason when aborted (not with `plain`, which
 * ignores the signal), and cancels the stream when iteration stops early.
 */
export async function* unpack(
  archive: ReadableStream<Uint8Array>,
  { limits, signal, plain = false, onBytes }: UnpackOptions,
): AsyncGenerator<UnpackStep> {
  const intake = plain ? undefined : new Intake(archive, limits, onBytes);
  const tree = new ArchiveTree(limits.maxEntries);
  const reader = new TarReader();
  let unpacked = 0;
  for await (const chunk of intake ? gunzipped(intake, signal) : archive) {
    unpacked += chunk.length;
    checkUnpackedBytes(unpacked, limits);
    for (const event of reader.read(chunk)) {
      if (event.type === "bytes") yield event;
      else yield* stepsFor(event, tree, limits);
    }
  }
  reader.finish();
  if (tree.files === 0)
    throw refusal("archive_without_files", "the archive contains no files; there is nothing to deploy");
  for (const link of tree.links()) yield { type: "link", ...link };
  yield { type: "end", bytes: intake?.bytes ?? unpacked, files: tree.files };
}

function* stepsFor(entry: TarEntry, tree: ArchiveTree, limits: ArchiveLimits): Generator<UnpackStep> {
  // Checked before its first byte, so that a decompression bomb that declares its size is refused immediately.
  checkUnpackedBytes(entry.size, limits);
  const { newFolders, path, replaces } = tree.accept(entry);
  for (const folder of newFolders) yield { type: "folder", path: folder };
  if (entry.kind !== "file") return;
  yield { type: "file", path, size: entry.size, executable: entry.executable, replaces };
}

async function* gunzipped(intake: Intake, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const stream = intake.stream().pipeThrough(new DecompressionStream("gzip"), signal === undefined ? {} : { signal });
  try {
    yield* stream;
  } catch (error) {
    signal?.throwIfAborted();
    if (intake.failure !== undefined) throw intake.failure;
    if (error instanceof Failure) throw error;
    throw refusal("archive_broken", "its gzip data is damaged or cut short; pack and send it again", error);
  }
}
