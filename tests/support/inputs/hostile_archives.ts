import { gzipSync } from "node:zlib";
import { file, folder, link, pax, tar, tarEntry, type TarFixture, tarGz } from "./tar_archive.ts";

/** An archive that must be refused as a whole, and the code of the refusal. */
export interface HostileArchive {
  readonly what: string;
  readonly code: string;
  readonly bytes: Uint8Array;
}

const bytesOf = (...values: number[]) => new Uint8Array(values);

/** Every archive begins with a valid file, which an incomplete refusal would leave behind. */
const REFUSED_ENTRIES: readonly (readonly [what: string, code: string, entries: readonly TarFixture[]])[] = [
  ["a name that climbs", "archive_name_refused", [file("../evil")]],
  ["a name that climbs in its middle", "archive_name_refused", [file("a/../../evil")]],
  ["a name that climbs and returns", "archive_name_refused", [file("a/../b")]],
  ["a folder that climbs", "archive_name_refused", [folder("a/..")]],
  ["a name that is only ..", "archive_name_refused", [folder("..")]],
  ["an absolute name", "archive_name_refused", [file("/tmp/slipway-evil")]],
  ["an absolute name of two slashes", "archive_name_refused", [file("//evil")]],
  ["an absolute name by pax", "archive_name_refused", [pax({ path: "/tmp/slipway-evil" }), file("fine")]],
  ["a climbing name by pax", "archive_name_refused", [pax({ path: "../evil" }), file("fine")]],
  ["a climbing long name", "archive_name_refused", [{ name: "L", type: "L", content: "../evil\0" }, file("fine")]],
  ["a NUL in a name", "archive_name_refused", [pax({ path: "a\0b" }), file("fine")]],
  ["a backslash", "archive_name_refused", [file("..\\evil")]],
  ["a drive", "archive_name_refused", [file("C:\\evil")]],
  ["a drive with slashes", "archive_name_refused", [file("C:/evil")]],
  ["an empty name", "archive_name_refused", [file("")]],
  ["a name that is not UTF-8", "archive_name_refused", [file(bytesOf(0x61, 0xff, 0xfe))]],
  ["a name with an overlong slash", "archive_name_refused", [file(bytesOf(0x2e, 0x2e, 0xc0, 0xaf, 0x78))]],
  ["a part of 256 bytes", "archive_name_refused", [pax({ path: `a/${"ü".repeat(128)}` }), file("fine")]],
  ["a name of 4097 bytes", "archive_name_refused", [pax({ path: `${"a/".repeat(2048)}b` }), file("fine")]],
  ["a name 257 folders deep", "archive_name_refused", [pax({ path: "a/".repeat(257) }), folder("fine")]],
  ["a hard link", "archive_entry_refused", [{ name: "hard", type: "1", target: "first.txt" }]],
  ["a hard link outside", "archive_entry_refused", [{ name: "hard", type: "1", target: "/etc/passwd" }]],
  ["a character device", "archive_entry_refused", [{ name: "null", type: "3" }]],
  ["a block device", "archive_entry_refused", [{ name: "disk", type: "4" }]],
  ["a named pipe", "archive_entry_refused", [{ name: "pipe", type: "6" }]],
  ["a GNU sparse file", "archive_entry_refused", [{ name: "sparse", type: "S", format: "gnu" }]],
  ["a pax sparse file", "archive_entry_refused", [pax({ "GNU.sparse.major": "1" }), file("sparse")]],
  ["an unknown type", "archive_entry_refused", [{ name: "odd", type: "Z" }]],
  ["a multi-volume part", "archive_entry_refused", [{ name: "odd", type: "M" }]],
  ["an absolute link", "archive_link_refused", [link("passwd", "/etc/passwd")]],
  ["an absolute link by pax", "archive_link_refused", [pax({ linkpath: "/etc" }), link("l", "first.txt")]],
  [
    "an absolute long link",
    "archive_link_refused",
    [{ name: "K", type: "K", content: "/etc\0" }, link("l", "first.txt")],
  ],
  ["an empty link", "archive_link_refused", [link("l", "")]],
  ["a link with a NUL", "archive_link_refused", [pax({ linkpath: "a\0b" }), link("l", "x")]],
  ["a link to a drive", "archive_link_refused", [link("l", "C:/evil")]],
  ["a link out of the tree", "archive_link_refused", [link("up", "..")]],
  ["a deep link out of the tree", "archive_link_refused", [link("a/b/c", "../../../etc")]],
  ["a link out and in again", "archive_link_refused", [link("a", "../tree/first.txt")]],
  ["a link that escapes through another", "archive_link_refused", [link("p", "."), link("q", "p/..")]],
  ["a link that escapes through a later one", "archive_link_refused", [link("q", "p/.."), link("p", ".")]],
  [
    "a link that escapes through a chain",
    "archive_link_refused",
    [folder("d"), link("d/up", ".."), link("a", "d/up"), link("b", "a/d/up/.."), file("d/file")],
  ],
  ["a link that climbs out of something missing", "archive_link_refused", [link("l", "missing/../../etc")]],
  ["a link that climbs out of a file", "archive_link_refused", [link("l", "first.txt/../..")]],
  ["a link to itself", "archive_link_refused", [link("l", "l")]],
  ["links in a circle", "archive_link_refused", [link("a", "b"), link("b", "c"), link("c", "a")]],
  ["a link below itself", "archive_link_refused", [link("l", "l/x")]],
  [
    "a chain of 41 links",
    "archive_link_refused",
    [...Array(41).keys()].map((index) => link(`l${index}`, index === 40 ? "first.txt" : `l${index + 1}`)),
  ],
  [
    "links that double at every step",
    "archive_link_refused",
    [link("l0", "."), ...[...Array(30).keys()].map((index) => link(`l${index + 1}`, `l${index}/l${index}`))],
  ],
  ["a file through a link", "archive_conflict", [folder("d"), link("l", "d"), file("l/evil")]],
  ["a folder through a link", "archive_conflict", [folder("d"), link("l", "d"), folder("l/evil")]],
  ["a link through a link", "archive_conflict", [folder("d"), link("l", "d"), link("l/evil", "x")]],
  ["a folder in place of a link", "archive_conflict", [link("l", "d"), folder("l")]],
  ["a link in place of a folder", "archive_conflict", [folder("d"), file("d/x"), link("d", "e")]],
  ["a link in place of a file", "archive_conflict", [file("f"), link("f", "first.txt")]],
  ["a file in place of a link", "archive_conflict", [link("f", "first.txt"), file("f")]],
  ["a folder in place of a file", "archive_conflict", [file("f"), folder("f")]],
  ["a file in place of a folder", "archive_conflict", [folder("f"), file("f")]],
  ["a file below a file", "archive_conflict", [file("f"), file("./f/g")]],
  ["a file in place of the root", "archive_conflict", [file(".")]],
  ["a link in place of the root", "archive_conflict", [link("./", "x")]],
  ["a wrong checksum", "archive_broken", [{ ...file("f"), checksum: 1 }]],
  ["a content shorter than declared", "archive_broken", [{ ...file("f"), size: 4_000 }]],
  ["a malformed pax header", "archive_broken", [{ name: "x", type: "x", content: "99 path=short\n" }, file("f")]],
  ["a pax header without a key", "archive_broken", [{ name: "x", type: "x", content: "7 path\n" }, file("f")]],
  ["a pax header of zeros", "archive_broken", [{ name: "x", type: "x", content: "0 a=b\n" }, file("f")]],
  ["a pax size that is no number", "archive_broken", [pax({ size: "-1" }), file("f")]],
  ["a pax size in another notation", "archive_broken", [pax({ size: "0x7" }), file("f")]],
  ["a pax header for nothing", "archive_broken", [pax({ path: "f" })]],
  ["a global pax header that names every entry", "archive_broken", [pax({ path: "f" }, "g"), file("f")]],
  ["a pax header over 1 MiB", "archive_header_too_large", [pax({ comment: "x".repeat(1024 * 1024) }), file("f")]],
  [
    "a pax header that declares 8 GiB",
    "archive_header_too_large",
    [{ ...pax({}), size: 8 * 1024 ** 3 - 1 }, file("f")],
  ],
  [
    "a long name over 1 MiB",
    "archive_header_too_large",
    [{ name: "L", type: "L", content: "x".repeat(1024 * 1024 + 1) }, file("f")],
  ],
];

const good = tar([file("first.txt"), file("second.txt", "x".repeat(100_000))]);
const goodGz = gzipSync(good);

const REFUSED_BYTES: readonly HostileArchive[] = [
  { what: "no bytes at all", code: "upload_empty", bytes: new Uint8Array() },
  { what: "a tar that is not gzipped", code: "archive_not_gzip", bytes: good },
  { what: "a single byte", code: "archive_broken", bytes: bytesOf(0x1f) },
  { what: "a zip", code: "archive_not_gzip", bytes: bytesOf(0x50, 0x4b, 3, 4) },
  { what: "gzip of something else", code: "archive_broken", bytes: gzipSync("x".repeat(2000)) },
  { what: "gzip of nothing", code: "archive_broken", bytes: gzipSync("") },
  { what: "gzip cut in its data", code: "archive_broken", bytes: goodGz.subarray(0, 100) },
  { what: "gzip cut in its trailer", code: "archive_broken", bytes: goodGz.subarray(0, -1) },
  {
    what: "gzip with a wrong sum",
    code: "archive_broken",
    bytes: goodGz.map((byte, at) => (at === goodGz.length - 8 ? byte ^ 1 : byte)),
  },
  { what: "garbage after the gzip", code: "archive_broken", bytes: Buffer.concat([goodGz, Buffer.from("garbage")]) },
  { what: "a tar cut in a content", code: "archive_broken", bytes: gzipSync(good.subarray(0, 3000)) },
  { what: "a tar cut in a header", code: "archive_broken", bytes: gzipSync(good.subarray(0, 1300)) },
  { what: "a tar cut between entries", code: "archive_broken", bytes: gzipSync(good.subarray(0, 1024)) },
  { what: "a second tar after the first", code: "archive_broken", bytes: gzipSync(Buffer.concat([good, good])) },
  {
    what: "bytes after the end of the tar",
    code: "archive_broken",
    bytes: gzipSync(Buffer.concat([good, Buffer.from("x")])),
  },
  {
    what: "an entry after one empty block",
    code: "archive_broken",
    bytes: gzipSync(Buffer.concat([Buffer.alloc(512), tarEntry(file("f")), Buffer.alloc(1024)])),
  },
  { what: "no entry", code: "archive_without_files", bytes: tarGz([]) },
  { what: "only the root", code: "archive_without_files", bytes: tarGz([folder("./")]) },
  { what: "only folders and links", code: "archive_without_files", bytes: tarGz([folder("a"), link("b", "a")]) },
];

/** One archive for each kind of content that uploads must refuse. */
export const hostileArchives: readonly HostileArchive[] = [
  ...REFUSED_ENTRIES.map(([what, code, entries]) => ({ what, code, bytes: tarGz([file("first.txt"), ...entries]) })),
  ...REFUSED_BYTES,
];
