import type { OutputStream } from "../../../domain/deployments/output_stream.ts";
import type { EngineApi, EngineRequest } from "../engine/engine_api.ts";

/** A chunk of a container's output, or of a note about it: a line with its newline, or a part of a line. */
export interface LogFrame {
  readonly stream: OutputStream;
  /** RFC 3339 with nine fractional digits; the parts of one line share it. */
  readonly at: string;
  readonly bytes: Buffer;
}

const HEADER = 8;
const TIME = 30;
const STDERR = 2;

/** Yields a container's output so far, some frames at a time; the request ends with the iteration. */
export async function* logFrames(
  engine: EngineApi,
  containerId: string,
  query: NonNullable<EngineRequest["query"]>,
): AsyncGenerator<readonly LogFrame[], void, undefined> {
  const ended = new AbortController();
  const answer = await engine.request("GET", `/containers/${containerId}/logs`, {
    query: { ...query, stdout: true, stderr: true, timestamps: true },
    signal: ended.signal,
  });
  const reader = answer.body!.getReader();
  try {
    let pending: Buffer = Buffer.alloc(0);
    for (;;) {
      const { done, value } = await engine.inTime(reader.read());
      if (done) return;
      const { frames, rest } = framesIn(pending.length === 0 ? Buffer.from(value) : Buffer.concat([pending, value]));
      pending = rest;
      yield frames;
    }
  } finally {
    ended.abort();
  }
}

/** Parses the complete frames at the start of a buffer: stream number, length, timestamp, output. */
function framesIn(bytes: Buffer): { readonly frames: readonly LogFrame[]; readonly rest: Buffer } {
  const frames: LogFrame[] = [];
  let from = 0;
  while (from + HEADER <= bytes.length) {
    const text = from + HEADER;
    const end = text + bytes.readUInt32BE(from + 4);
    if (end > bytes.length) break;
    const stream = bytes[from] === STDERR ? "stderr" : "stdout";
    frames.push({
      stream,
      at: bytes.toString("latin1", text, text + TIME),
      bytes: bytes.subarray(text + TIME + 1, end),
    });
    from = end;
  }
  return { frames, rest: bytes.subarray(from) };
}
