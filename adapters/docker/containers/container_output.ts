import type { OutputLine, OutputQuery } from "../../../ports/services/runtime.ts";
import type { ContainerRecord } from "../engine/containers.ts";
import { type EndingNote, withNotes } from "./ending_notes.ts";
import { isUp } from "./container_state.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { type LogFrame, logFrames } from "./log_frames.ts";
import { NumberedLines } from "./numbered_lines.ts";

type Frames = AsyncIterable<readonly LogFrame[]>;

/** How long before the requested lines to start reading, so that they keep their numbers. */
const LEAD_MS = 50;
const PAGE_CHARACTERS = 8 * 1024 * 1024;
/** How many of the last lines to request before searching the whole log. */
const TAILS = [100, 1_000, 8_000, 60_000];

/**
 * Reads a page of a container's lines from the engine's log, merged with its notes; buffers no more than a page of some
 * megabytes.
 */
export async function containerOutput(
  engine: EngineApi,
  record: ContainerRecord,
  { notes, ...wanted }: OutputQuery & { readonly notes: readonly EndingNote[] },
): Promise<readonly OutputLine[]> {
  const createdAt = new Date(record.Created);
  const read = (query: Parameters<typeof logFrames>[2]) => logFrames(engine, record.Id, query);
  const page = (frames: Frames, noted = notes) =>
    pageOf(withNotes(frames, noted), new NumberedLines(createdAt), { ...wanted, isUp: isUp(record) });
  if (wanted.limit <= 0) return [];
  const begin = Math.max(new NumberedLines(createdAt).timeOf(wanted.since).getTime(), wanted.from?.getTime() ?? 0);
  if (begin <= createdAt.getTime()) return page(read({}));
  const from = new Date(begin - LEAD_MS);
  const near = notes.filter(({ at }) => at >= nanosecondText(from));
  // A follower wants the last few lines, and searching a whole log for them keeps the engine busy.
  for (const tail of TAILS) {
    const frames = await reaching(read({ tail }), from);
    if (frames) return page(frames, near);
  }
  return page(read({ since: (from.getTime() / 1_000).toFixed(3) }), near);
}

async function pageOf(
  frames: Frames,
  lines: NumberedLines,
  { since, limit, from = new Date(0), isUp: goesOn }: OutputQuery & { readonly isUp: boolean },
): Promise<readonly OutputLine[]> {
  const page: OutputLine[] = [];
  let characters = 0;
  /** Returns whether the page is full. */
  const add = (line: OutputLine): boolean => {
    if (line.seq <= since || line.at < from) return false;
    page.push(line);
    characters += line.message.length;
    return page.length >= limit || characters >= PAGE_CHARACTERS;
  };
  for await (const some of frames) {
    for (const frame of some) if (lines.take(frame).some(add)) return page;
  }
  if (!goesOn) lines.end().some(add);
  return page;
}

function nanosecondText(time: Date): string {
  return time.toISOString().replace("Z", "000000Z");
}

/** Returns the frames, or `undefined` if they do not reach back before `from`. */
async function reaching(
  frames: AsyncGenerator<readonly LogFrame[], void, undefined>,
  from: Date,
): Promise<Frames | undefined> {
  const text = nanosecondText(from);
  let next = await frames.next();
  while (!next.done && next.value.length === 0) next = await frames.next();
  const first = next.done ? [] : next.value;
  if (first[0] && first[0].at >= text) {
    await frames.return();
    return undefined;
  }
  return (async function* () {
    yield first;
    yield* frames;
  })();
}
