import { describe, expect, test } from "bun:test";
import { array, assert, integer, property, string, stringMatching, tuple, uniqueArray } from "fast-check";
import { TarEntries } from "../../../adapters/docker/images/tar_entries.ts";
import { TAR_END, tarHead, tarPadding } from "../../../domain/archive/tar_writer.ts";

type Entry = readonly [name: string, content: string];

const encoder = new TextEncoder();

function archive(entries: readonly Entry[]): Uint8Array {
  const parts = entries.flatMap(([name, content]) => {
    const bytes = encoder.encode(content);
    return [
      tarHead({ kind: "file", name, size: bytes.length, mode: 0o644, modifiedMs: 0 }),
      bytes,
      tarPadding(bytes.length),
    ];
  });
  return Buffer.concat([...parts, TAR_END]);
}

/** Passes an archive in pieces of these sizes, over and over. */
function passed(entries: TarEntries, whole: Uint8Array, sizes: readonly number[]): Uint8Array {
  const kept: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    for (const part of entries.pass(whole.subarray(at, at + size))) kept.push(part.slice());
    at += size;
  }
  return Buffer.concat(kept);
}

const isDropped = (name: string) => name.length % 2 === 0;

describe("TarEntries", () => {
  test("leaves entries out and reads others, however the archive is cut into pieces", () => {
    const entry = tuple(stringMatching(/^[a-z]{1,20}(?:\/[a-z]{1,20})?$/), string({ maxLength: 2_000 }));
    const sizes = array(integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 5 });
    const all = uniqueArray(entry, { selector: ([name]) => name, maxLength: 6 });
    assert(
      property(all, sizes, (entries, pieces) => {
        const reading = new TarEntries((name) => (isDropped(name) ? "drop" : "read"));
        const kept = entries.filter(([name]) => !isDropped(name));
        expect(passed(reading, archive(entries), pieces)).toEqual(Buffer.from(archive(kept)));
        for (const [name, content] of kept) expect(reading.text(name)).toBe(content);
        for (const [name] of entries) if (isDropped(name)) expect(reading.text(name)).toBeUndefined();
      }),
    );
  });
});
