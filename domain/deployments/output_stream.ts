/** Where a line of output comes from: the program, or this service where it tells of the program. */
export type OutputStream = "stdout" | "stderr" | "slipway";

/** What stands for a stream where lines are stored. */
export type StreamLetter = "o" | "e" | "s";

const LETTERS: Readonly<Record<OutputStream, StreamLetter>> = { stdout: "o", stderr: "e", slipway: "s" };
const STREAMS: Readonly<Record<StreamLetter, OutputStream>> = { o: "stdout", e: "stderr", s: "slipway" };

export function letterOf(stream: OutputStream): StreamLetter {
  return LETTERS[stream];
}

export function streamOf(letter: StreamLetter): OutputStream {
  return STREAMS[letter];
}
