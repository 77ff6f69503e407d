import { describe, expect, test } from "bun:test";
import { TarReader } from "../../domain/archive/tar_reader.ts";
import { type PackedEntry, TAR_END, tarHead, tarPadding } from "../../domain/archive/tar_writer.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function entry(given: Partial<PackedEntry>): PackedEntry {
  return { name: "a", kind: "file", size: 0, mode: 0o644, modifiedMs: 0, ...given };
}

/** Writes entries and parses them back, each with its content. */
function read(entries: readonly (readonly [PackedEntry, string])[]) {
  const reader = new TarReader();
  const seen: { name: string; kind: string; target: string; content: string }[] = [];
  const pieces = entries.flatMap(([head, content]) => {
    const bytes = new TextEncoder().encode(content);
    return [tarHead({ ...head, size: bytes.length }), bytes, tarPadding(bytes.length)];
  });
  for (const piece of [...pieces, TAR_END]) {
    for (const part of reader.read(piece)) {
      if (part.type === "bytes") seen.at(-1)!.content += text(part.bytes);
      else seen.push({ name: text(part.name), kind: part.kind, target: text(part.target), content: "" });
    }
  }
  reader.finish();
  return seen;
}

describe("tarHead()", () => {
  test("writes files, folders and links that a reader can read", () => {
    expect(
      read([
        [entry({ name: "dir", kind: "folder", mode: 0o755 }), ""],
        [entry({ name: "dir/file", mode: 0o755 }), "content"],
        [entry({ name: "dir/link", kind: "link", target: "file" }), ""],
      ]),
    ).toEqual([
      { name: "dir/", kind: "folder", target: "", content: "" },
      { name: "dir/file", kind: "file", target: "", content: "content" },
      { name: "dir/link", kind: "link", target: "file", content: "" },
    ]);
  });

  test.each([99, 100, 101, 250, 985, 990, 4_000])("keeps names and targets of %i characters", (length) => {
    const name = "n".repeat(length);
    const target = "ü".repeat(length);
    expect(read([[entry({ name, kind: "link", target }), ""]])).toEqual([{ name, kind: "link", target, content: "" }]);
    expect(read([[entry({ name: `${name}ß` }), "x".repeat(length)]])[0]).toMatchObject({
      name: `${name}ß`,
      content: "x".repeat(length),
    });
  });

  test("keeps a size of more than eight gigabytes", () => {
    const size = 9 * 1_024 ** 3;
    const [found] = new TarReader().read(tarHead(entry({ size })));
    expect(found).toMatchObject({ type: "entry", size });
  });

  test("writes the time in seconds", () => {
    const block = tarHead(entry({ modifiedMs: 1_700_000_000_987 }));
    expect(Number.parseInt(text(block.subarray(136, 147)), 8)).toBe(1_700_000_000);
  });
});
