import type { BuildContext } from "./build_context.ts";
import type { CallHandler } from "./build_session.ts";
import { type ContextEntry, contentOf } from "./context_entry.ts";
import type { ProjectTimes } from "./content_times.ts";
import { followPaths } from "./follow_paths.ts";
import type { GrpcStream } from "./grpc_stream.ts";
import { wireFields, WireMessage } from "./wire_format.ts";

/** The gRPC method by which the engine requests files. */
export const FILE_SYNC = "/moby.filesync.v1.FileSync/DiffCopy";

const PACKET = { stat: 0, request: 1, data: 2, end: 3, failure: 4 } as const;
const FILES_AT_ONCE = 4;
const STATS_AT_ONCE = 256;
/**
 * The engine's encoding (Go's `os.FileMode`) of an entry's kind, and of setuid, setgid and sticky, which do not fit
 * into nine bits.
 */
const KINDS = { file: 0, folder: 2 ** 31, link: 2 ** 27 } as const;
const SPECIAL_BITS = [
  [0o4000, 2 ** 23],
  [0o2000, 2 ** 22],
  [0o1000, 2 ** 20],
] as const;

export interface FileSyncOptions {
  readonly context: BuildContext;
  readonly times: ProjectTimes;
  /** Called with the reason why a file could not be sent. */
  readonly failed: (reason: unknown) => void;
}

/** Responds with the stats of all files, then with the content of those that the engine finds new or changed. */
export function fileSync({ context, times, failed }: FileSyncOptions): CallHandler {
  return async function (call, metadata) {
    const paths = [...(metadata.get("followpaths") ?? []), ...(metadata.get("include-patterns") ?? [])];
    const folder = metadata.get("dir-name")?.[0];
    if (folder === "dockerfile") return sendDockerfile(call, context);
    // The ignore rules were applied already; the engine's own search for them finds none.
    const entries = folder !== "context" || paths.includes(".dockerignore") ? [] : context.entries;
    const wanted = paths.length === 0 ? entries : followPaths(entries, paths);
    await times.compare(context.root, wanted);
    const read = (entry: ContextEntry) => times.sent(entry, contentOf(context.root, entry));
    await new Sender(call, { entries: wanted, read, failed, timeOf: (entry) => times.timeOf(entry) }).run();
  };
}

/** Sends the Dockerfile alone, whatever else is requested: it may exist nowhere else, or be a symlink. */
function sendDockerfile(call: GrpcStream, { dockerfile }: BuildContext): Promise<void> {
  const { name, bytes } = dockerfile;
  const about = { mode: 0o644, size: bytes.length, modifiedNs: BigInt(Bun.hash(bytes)) >> 8n, target: "", inode: 0n };
  const entry: ContextEntry = { path: name, kind: "file", ...about };
  async function* read() {
    if (bytes.length > 0) yield bytes;
  }
  return new Sender(call, { entries: [entry], read, failed: () => {}, timeOf: () => about.modifiedNs }).run();
}

interface Sending {
  readonly entries: readonly ContextEntry[];
  readonly read: (entry: ContextEntry) => AsyncIterable<Uint8Array>;
  readonly failed: (reason: unknown) => void;
  /** Returns the modification time to announce for an entry. */
  readonly timeOf: (entry: ContextEntry) => bigint;
}

class Sender {
  readonly #call: GrpcStream;
  readonly #sending: Sending;
  readonly #wanted: number[] = [];
  /** Files being sent. */
  readonly #running = new Set<Promise<void>>();

  constructor(call: GrpcStream, sending: Sending) {
    this.#call = call;
    this.#sending = sending;
  }

  async run(): Promise<void> {
    const stats = this.#stats();
    // Prevents an unhandled rejection while requests are awaited.
    stats.catch(() => {});
    for await (const message of this.#call.messages()) {
      const { type, id } = packet(message);
      if (type === PACKET.request) this.#request(id);
      else if (type === PACKET.end) {
        await Promise.all([stats, ...this.#running]);
        await this.#call.send(new WireMessage().number(1, PACKET.end).finish());
        return;
      } else if (type === PACKET.failure) throw new Error("The engine could not receive the files");
    }
  }

  async #stats(): Promise<void> {
    const { entries, timeOf } = this.#sending;
    for (let start = 0; start < entries.length; start += STATS_AT_ONCE) {
      for (const entry of entries.slice(start, start + STATS_AT_ONCE))
        await this.#call.send(statPacket(entry, timeOf(entry)));
    }
    await this.#call.send(new WireMessage().finish());
  }

  #request(id: number): void {
    this.#wanted.push(id);
    if (this.#running.size >= FILES_AT_ONCE) return;
    const running = this.#contents().finally(() => this.#running.delete(running));
    running.catch(() => {});
    this.#running.add(running);
  }

  async #contents(): Promise<void> {
    for (let id = this.#wanted.shift(); id !== undefined; id = this.#wanted.shift()) {
      try {
        await this.#content(id);
      } catch (error) {
        this.#sending.failed(error);
        await this.#call.send(new WireMessage().number(1, PACKET.failure).text(4, "a file cannot be sent").finish());
        throw error;
      }
    }
  }

  async #content(id: number): Promise<void> {
    const entry = this.#sending.entries[id];
    if (entry?.kind !== "file") throw new Error("The engine requested something that is not a file");
    const head = () => new WireMessage().number(1, PACKET.data).number(3, id);
    for await (const bytes of this.#sending.read(entry)) {
      await this.#call.send(head().bytesHead(4, bytes.length).finish(), bytes);
    }
    await this.#call.send(head().finish());
  }
}

function packet(message: Uint8Array): { readonly type: number; readonly id: number } {
  const found = { type: 0, id: 0 };
  for (const [field, value] of wireFields(message)) {
    if (field === 1) found.type = Number(value);
    if (field === 3) found.id = Number(value);
  }
  return found;
}

function statPacket({ path, kind, mode, size, target }: ContextEntry, modifiedNs: bigint): Uint8Array {
  const special = SPECIAL_BITS.reduce((sum, [bit, theirs]) => sum + ((mode & bit) === 0 ? 0 : theirs), 0);
  const stat = new WireMessage()
    .text(1, path)
    .number(2, KINDS[kind] + special + (mode & 0o777))
    .number(5, size)
    .number(6, modifiedNs)
    .text(7, target)
    .finish();
  return new WireMessage().bytes(2, stat).finish();
}
