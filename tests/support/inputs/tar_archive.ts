import { gzipSync } from "node:zlib";

/** A tar entry to write, valid or not. */
export interface TarFixture {
  readonly name: string | Uint8Array;
  /** The type flag: `0` file (default), `2` symlink, `5` folder, `x` pax header and so on. */
  readonly type?: string;
  readonly content?: string | Uint8Array;
  readonly target?: string | Uint8Array;
  readonly mode?: number;
  /** Declared instead of the actual content size. */
  readonly size?: number;
  /** Written instead of the correct checksum. */
  readonly checksum?: number;
  /** `ustar` (default), `gnu`, or `v7` for none. */
  readonly format?: "ustar" | "gnu" | "v7";
}

const BLOCK = 512;
const MAGIC = { ustar: "ustar\x0000", gnu: "ustar  \0", v7: "" };

/** A file entry. */
export function file(name: string | Uint8Array, content: string | Uint8Array = "content"): TarFixture {
  return { name, content };
}

/** A folder entry. */
export function folder(name: string): TarFixture {
  return { name, type: "5", mode: 0o755 };
}

/** A symlink entry. */
export function link(name: string, target: string): TarFixture {
  return { name, type: "2", target };
}

/** A pax header for the next entry, or with type `g` for all following ones. */
export function pax(records: Record<string, string | Uint8Array>, type: "x" | "g" = "x"): TarFixture {
  const lines = Object.entries(records).map(([key, value]) => {
    const body = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from("\n")]);
    let length = body.length;
    while (String(length).length + body.length !== length) length = String(length).length + body.length;
    return Buffer.concat([Buffer.from(String(length)), body]);
  });
  return { name: "PaxHeader/x", type, content: Buffer.concat(lines) };
}

/** A tar archive of these entries, with its end marker. */
export function tar(entries: readonly TarFixture[]): Uint8Array {
  return Buffer.concat([...entries.map(tarEntry), Buffer.alloc(2 * BLOCK)]);
}

/** A gzipped tar archive of these entries. */
export function tarGz(entries: readonly TarFixture[]): Uint8Array {
  return gzipSync(tar(entries));
}

/** One entry: header, content and padding, without an end marker. */
export function tarEntry(entry: TarFixture): Uint8Array {
  const content = Buffer.from(entry.content ?? "");
  const header = Buffer.alloc(BLOCK);
  Buffer.from(entry.name).copy(header, 0, 0, 100);
  header.write(octal(entry.mode ?? 0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(entry.size ?? content.length, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(" ".repeat(8), 148);
  header.write(entry.type ?? "0", 156);
  Buffer.from(entry.target ?? "").copy(header, 157, 0, 100);
  header.write(MAGIC[entry.format ?? "ustar"], 257, "latin1");
  const sum = entry.checksum ?? header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

/** Streams the bytes in chunks, on demand. */
export function streamOf(bytes: Uint8Array, pieceBytes = 64 * 1024): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, at + pieceBytes));
        at += pieceBytes;
      },
    },
    { highWaterMark: 0 },
  );
}

function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, "0")}\0`;
}
