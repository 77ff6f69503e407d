/** The origin of an output line: the program, or Slipway itself reporting about the program. */
export type OutputStream = "stdout" | "stderr" | "slipway";

/** The stored form of a stream. */
export type StreamLetter = "o" | "e" | "s";

const LETTERS: Readonly<Record<OutputStream, StreamLetter>> = { stdout: "o", stderr: "e", slipway: "s" };
const STREAMS: Readonly<Record<StreamLetter, OutputStream>> = { o: "stdout", e: "stderr", s: "slipway" };

export function letterOf(stream: OutputStream): StreamLetter {
  return LETTERS[stream];
}

export function streamOf(letter: StreamLetter): OutputStream {
  return STREAMS[letter];
}
