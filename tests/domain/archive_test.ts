import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { gzipSync } from "node:zlib";
import { entryName } from "../../domain/archive/entry_name.ts";
import { shown } from "../../domain/archive/refusal.ts";
import { TarReader } from "../../domain/archive/tar_reader.ts";
import { unpack } from "../../domain/archive/unpack.ts";
import { Failure } from "../../domain/failure.ts";
import { file, folder, link, pax, streamOf, tar } from "../support/inputs/tar_archive.ts";

const limits = { maxBytes: 1_000_000, maxUnpackedBytes: 10_000_000, maxEntries: 100 };
const sample = tar([
  pax({ comment: "made by a test" }, "g"),
  folder("src/"),
  file("src/a", "a".repeat(700)),
  pax({ path: `deep/${"n".repeat(200)}`, size: "3" }),
  file("short", "abc"),
  { name: "././@LongLink", type: "L", content: `${"l".repeat(120)}\0`, format: "gnu" },
  file("short", ""),
  link("link", "src/a"),
]);

/** Parses the chunks: returns the entries, each with its whole content. */
function readAll(pieces: readonly Uint8Array[]): string[] {
  const reader = new TarReader();
  const seen: string[] = [];
  for (const piece of pieces) {
    for (const event of reader.read(piece)) {
      if (event.type === "entry") seen.push(`${event.kind} ${Buffer.from(event.name)} ${event.size}: `);
      else seen.push(`${seen.pop()}${Buffer.from(event.bytes)}`);
    }
  }
  reader.finish();
  return seen;
}

test("TarReader.read() returns the same entries for any chunking of the archive", () => {
  const whole = readAll([sample]);
  expect(whole).toEqual([
    "folder src/ 0: ",
    `file src/a 700: ${"a".repeat(700)}`,
    `file deep/${"n".repeat(200)} 3: abc`,
    `file ${"l".repeat(120)} 0: `,
    "link link 0: ",
  ]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: sample.length }), { maxLength: 20 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), sample.length];
      expect(readAll(at.slice(1).map((end, index) => sample.slice(at[index], end)))).toEqual(whole);
    }),
  );
});

test("unpack() of a damaged archive ends with a Failure or with a complete one", async () => {
  const damage = fc.record({
    at: fc.integer({ min: 0, max: sample.length - 1 }),
    to: fc.integer({ min: 0, max: 255 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 8 }), fc.boolean(), async (damages, compressed) => {
      const bytes = Uint8Array.from(compressed ? gzipSync(sample) : sample);
      for (const { at, to } of damages) bytes[at % bytes.length] = to;
      const stream = streamOf(compressed ? bytes : gzipSync(bytes));
      try {
        const steps = await Array.fromAsync(unpack(stream, { limits }));
        expect(steps.at(-1)?.type).toBe("end");
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
      }
    }),
    { numRuns: 300 },
  );
});

test("entryName() of any accepted bytes stays below its root", () => {
  const piece = fc.constantFrom("..", ".", "/", "\\", "a", "C:", "\0", "...", "ü", "\uFEFF", " ");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      try {
        const parts = entryName(Buffer.from(pieces.join("")));
        for (const part of parts) expect(["", ".", ".."].includes(part) || /[/\\\0]/.test(part)).toBe(false);
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
      }
    }),
  );
});

test("shown() quotes a name so that it cannot break a line or change the text direction", () => {
  expect(shown('a"b\n\u001b[31m\u202Eevil')).toBe('"a\\"b\\n\\u001b[31m\\u202eevil"');
  expect(shown("x".repeat(5_000)).length).toBeLessThan(200);
});

test("unpack() yields links after every file", async () => {
  const steps = await Array.fromAsync(
    unpack(streamOf(gzipSync(tar([link("l", "a"), folder("d"), file("a", "x")]))), { limits }),
  );
  expect(steps.map(({ type }) => type)).toEqual(["folder", "file", "bytes", "link", "end"]);
});
