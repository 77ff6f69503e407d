import { setImmediate as breathe } from "node:timers/promises";
import { lineBytes, type OutputPart } from "../../domain/deployments/output_tail.ts";
import { letterOf, streamOf, type StreamLetter } from "../../domain/deployments/output_stream.ts";
import type { OutputLine } from "../../ports/services/runtime.ts";
import { plainJson } from "./plain_json.ts";

/** Log lines as they are stored: batched into one row. */
export interface LogChunk extends OutputPart {
  /** One JSON array, on one line. */
  readonly text: string;
}

type StoredLine = readonly [seq: number, at: number, stream: StreamLetter, message: string];

const MAX_LINES = 1_000;
const MAX_LENGTH = 131_072;

/** Batches lines for storage, in order. Adds `after` to their numbers. */
export async function logChunks(lines: readonly OutputLine[], after: number): Promise<readonly LogChunk[]> {
  const chunks: LogChunk[] = [];
  let texts: string[] = [];
  let [length, bytes] = [0, 0];
  for (const [index, { seq, at, stream, message }] of lines.entries()) {
    const stored: StoredLine = [seq + after, at.getTime(), letterOf(stream), message];
    const text = plainJson(stored);
    texts.push(text);
    length += text.length;
    bytes += lineBytes(message);
    if (texts.length < MAX_LINES && length < MAX_LENGTH && index < lines.length - 1) continue;
    chunks.push({ seq: seq + after, at, lines: texts.length, bytes, text: `[${texts.join(",")}]` });
    [texts, length, bytes] = [[], 0, 0];
    // Yields to the event loop, because there may be many lines.
    await breathe();
  }
  return chunks;
}

/** Parses the lines of a chunk, in order. */
export function linesOf(text: string): readonly OutputLine[] {
  return (JSON.parse(text) as StoredLine[]).map(([seq, at, stream, message]) => ({
    seq,
    at: new Date(at),
    stream: streamOf(stream),
    message,
  }));
}
