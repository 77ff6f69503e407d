/** A byte range of a file; `end` is inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** Parses a Range header; `undefined` for none, several or malformed ranges, for which the whole file is sent. */
export function byteRange(value: string | undefined, size: number): ByteRange | "unsatisfiable" | undefined {
  const [, from = "", to = ""] = RANGE.exec(value ?? "") ?? [];
  if (from === "" && to === "") return undefined;
  if (from === "") {
    const start = Math.max(0, size - Number(to));
    return Number(to) === 0 || size === 0 ? "unsatisfiable" : { start, end: size - 1 };
  }
  const start = Number(from);
  if (to !== "" && Number(to) < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}
