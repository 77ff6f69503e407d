import type { Notation } from "../services/notation.ts";

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
  p: 1024 ** 5,
};
const SIZE = /^(\d+(?:\.\d+)?) ?(?:([bkmgtp])|([kmgtp])i?b)?$/i;

/** Parses a size such as `512m`, `1.5gb`, `64k` or a plain number into bytes. */
export function byteSize(text: string): Notation<number> {
  const [, amount, short, long] = text.length <= 60 ? (SIZE.exec(text.trim()) ?? []) : [];
  const bytes = Number(amount) * (UNITS[(short ?? long ?? "b").toLowerCase()] ?? 1);
  return Number.isSafeInteger(Math.floor(bytes))
    ? { value: Math.floor(bytes) }
    : { wrong: "give a size such as 512m, 1g or 64k" };
}
