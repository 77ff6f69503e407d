import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Failure, invalid } from "../../domain/failure.ts";
import type { UploadFiles, UploadLimits } from "../../ports/projects/upload_files.ts";
import { hostileArchives } from "../support/inputs/hostile_archives.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { file, folder, link, pax, streamOf, tar, type TarFixture, tarGz } from "../support/inputs/tar_archive.ts";

/** An adapter under test, with its cleanup. */
export interface UploadFilesFixture extends AsyncDisposable {
  readonly files: UploadFiles;
}

const limits: UploadLimits = { maxBytes: 1_000_000, maxUnpackedBytes: 20_000_000, maxEntries: 1_000 };
const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString());

/** The failure that a call rejects with. */
async function failureOf(action: Promise<unknown>): Promise<Failure> {
  const error: unknown = await action.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error;
  return error;
}

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "slipway-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** Contract tests for `UploadFiles` adapters. */
export function uploadFilesContract(name: string, open: () => Promise<UploadFilesFixture>) {
  describe(`UploadFiles contract: ${name}`, () => {
    let fixture: UploadFilesFixture;
    let files: UploadFiles;
    let count = 0;
    const newId = () => `upl_contract${String(++count).padStart(12, "0")}`;
    const receive = (id: string, bytes: Uint8Array, options: Partial<UploadLimits> & { piece?: number } = {}) =>
      files.receive(id, streamOf(bytes, options.piece), { limits: { ...limits, ...options } });
    const receiveEntries = async (...entries: TarFixture[]) => {
      const id = newId();
      await receive(id, tarGz(entries));
      return id;
    };
    const tree = async (id: string) =>
      (await Array.fromAsync(files.list(id))).map(({ path, type, size }) => `${type} ${path} ${size}`);
    const content = async (id: string, path: string) => text(await files.read(id, path, { maxBytes: 1_000_000 }));
    const ids = async () => (await Array.fromAsync(files.stored())).map(({ id }) => id);

    beforeAll(async () => {
      fixture = await open();
      files = fixture.files;
    });
    afterAll(async () => {
      await fixture[Symbol.asyncDispose]();
    });

    test("receive() returns the size, the hash and the number of files", async () => {
      const bytes = tarGz([folder("src"), file("src/a"), file("b"), link("c", "b")]);
      expect(await receive(newId(), bytes)).toEqual({
        bytes: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"),
        files: 2,
      });
    });

    for (const piece of [1, 7, 511, 513, 1_000_000]) {
      test(`receive() accepts an archive in chunks of ${piece} bytes`, async () => {
        const id = newId();
        await receive(id, tarGz([file("a", "1".repeat(1_000)), pax({ path: "b/c" }), file("x", "2"), folder("d")]), {
          piece,
        });
        expect(await tree(id)).toEqual(["file a 1000", "folder b 0", "file b/c 1", "folder d 0"]);
        expect(await content(id, "a")).toBe("1".repeat(1_000));
        expect(await content(id, "b/c")).toBe("2");
      });
    }

    test("receive() keeps the content of small, empty and large files", async () => {
      const large = Buffer.alloc(5_000_000, "0123456789abcdefghij\n");
      const id = await receiveEntries(file("empty", ""), file("large", large), file("block", "x".repeat(512)));
      expect(await tree(id)).toEqual(["file block 512", "file empty 0", "file large 5000000"]);
      expect(await content(id, "empty")).toBe("");
      expect(await content(id, "block")).toBe("x".repeat(512));
      const read = await files.read(id, "large", { maxBytes: large.length });
      expect(Buffer.from(read!).equals(large)).toBe(true);
    });

    test("receive() normalizes . segments and doubled slashes in names", async () => {
      const id = await receiveEntries(folder("./"), file("./a"), file("b//c"), file("d/./e"), file("..f"), file("g.."));
      expect(await tree(id)).toEqual([
        "file ..f 7",
        "file a 7",
        "folder b 0",
        "file b/c 7",
        "folder d 0",
        "file d/e 7",
        "file g.. 7",
      ]);
    });

    test("receive() accepts long and unusual names", async () => {
      const long = `${"ordner/".repeat(40)}${"n".repeat(255)}`;
      const names = [
        long,
        "mit leer zeichen",
        "ünïcödé-日本語-🚀",
        "\uFEFFbom",
        "-rf",
        "$(id)",
        "Icon\r",
        "a:b",
        "._a",
        "con",
      ];
      const id = await receiveEntries(...names.flatMap((path) => [pax({ path }), file("short", path)]));
      for (const path of names) expect(await content(id, path)).toBe(path);
      expect((await tree(id)).filter((entry) => entry.startsWith("file"))).toHaveLength(names.length);
    });

    test("receive() accepts the long names of GNU and the prefix of POSIX, and no prefix from GNU", async () => {
      const long = `gnu/${"l".repeat(150)}`;
      const target = `${"./".repeat(60)}gnu`;
      const withPrefix = Buffer.from(tar([file("name", "posix")]));
      withPrefix.write("the/prefix", 345);
      withPrefix.write("        ", 148);
      const sum = withPrefix.subarray(0, 512).reduce((total, byte) => total + byte, 0);
      withPrefix.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
      const id = newId();
      const gnu = tar([
        { name: "././@LongLink", type: "L", content: `${long}\0`, format: "gnu" },
        { ...file("short", "gnu"), format: "gnu" },
        { name: "././@LongLink", type: "K", content: `${target}\0`, format: "gnu" },
        { ...link("link", "short"), format: "gnu" },
        { name: "old/", format: "v7" },
      ]);
      await receive(id, gzipSync(Buffer.concat([withPrefix.subarray(0, 1024), gnu])));
      expect(await content(id, long)).toBe("gnu");
      expect(await content(id, `link/${"l".repeat(150)}`)).toBe("gnu");
      expect(await content(id, "the/prefix/name")).toBe("posix");
      expect(await tree(id)).toContain("folder old 0");
    });

    test("receive() ignores global headers and unknown pax records", async () => {
      const id = await receiveEntries(
        pax({ comment: "0123456789abcdef" }, "g"),
        pax({ "SCHILY.xattr.user.a": "b=c\nd", "LIBARCHIVE.creationtime": "1", mtime: "1.5", path: "named" }),
        file("short", "x"),
        pax({}),
        file("plain", "y"),
      );
      expect(await tree(id)).toEqual(["file named 1", "file plain 1"]);
    });

    test("receive() accepts gzip of several members and a tar padded with zeros", async () => {
      const bytes = Buffer.concat([tar([file("a", "1"), file("b", "2")]), Buffer.alloc(20_000)]);
      const id = newId();
      await receive(id, Buffer.concat([gzipSync(bytes.subarray(0, 700)), gzipSync(bytes.subarray(700))]), {
        piece: 13,
      });
      expect(await tree(id)).toEqual(["file a 1", "file b 1"]);
    });

    test("receive() replaces an earlier file or link by a later one of the same name", async () => {
      const id = await receiveEntries(
        file("a", "a long first content"),
        link("l", "missing"),
        file("b", "b"),
        { ...file("./a", "new"), mode: 0o755 },
        link("l", "a"),
      );
      expect(await tree(id)).toEqual(["file a 3", "file b 1", "link l 0"]);
      expect(await content(id, "a")).toBe("new");
      expect(await content(id, "l")).toBe("new");
    });

    test("receive() keeps links that stay inside, even dangling ones", async () => {
      const id = await receiveEntries(
        link("a/b/up", "../../c"),
        link("dangling", "not/there"),
        link("here", "."),
        link("through", "a/b/up/../c/file"),
        link("round", "here/here/a/../c/file"),
        file("c/file", "found"),
      );
      expect(await content(id, "a/b/up/file")).toBe("found");
      expect(await content(id, "through")).toBe("found");
      expect(await content(id, "round")).toBe("found");
      expect(await content(id, "here/here/c/file")).toBe("found");
      expect(await content(id, "dangling")).toBeUndefined();
      expect(await tree(id)).toContain("link dangling 0");
    });

    for (const { what, code, bytes } of hostileArchives) {
      test(`receive() refuses ${what}`, async () => {
        const id = newId();
        const failure = await failureOf(receive(id, bytes));
        expect([failure.kind, failure.code]).toEqual(["invalid", code]);
        expect(failure.message).toStartWith("Cannot accept the upload: ");
        expect(failure.message).not.toMatch(/\p{Cc}/u);
        expect(await tree(id)).toEqual([]);
        expect(await ids()).not.toContain(id);
      });
    }

    test("receive() keeps what an earlier call stored when a later one is refused", async () => {
      const id = await receiveEntries(file("kept", "kept"));
      expect((await failureOf(receive(id, tarGz([file("new"), file("../evil")])))).code).toBe("archive_name_refused");
      expect(await tree(id)).toEqual(["file kept 4"]);
    });

    test("receive() replaces what an earlier call stored", async () => {
      const id = await receiveEntries(file("old"), file("both", "1"));
      await receive(id, tarGz([file("both", "22")]));
      expect(await tree(id)).toEqual(["file both 2"]);
    });

    test("concurrent receive() calls for one id store one complete upload", async () => {
      const id = newId();
      const versions = [...Array(6).keys()].map(String);
      await Promise.all(
        versions.map((version) => receive(id, tarGz([file("a", version), file(`only-${version}`, version)]))),
      );
      const version = (await content(id, "a"))!;
      expect(await tree(id)).toEqual(["file a 1", `file only-${version} 1`]);
    });

    test("receive() accepts an upload of exactly maxBytes and refuses one byte more", async () => {
      const bytes = tarGz([file("a")]);
      await receive(newId(), bytes, { maxBytes: bytes.length });
      const id = newId();
      const failure = await failureOf(receive(id, bytes, { maxBytes: bytes.length - 1, piece: 10 }));
      expect([failure.kind, failure.code]).toEqual(["too_large", "upload_too_large"]);
      expect(failure.message).toContain(`${bytes.length - 1} bytes`);
      expect(await ids()).not.toContain(id);
    });

    test("receive() accepts an archive of exactly maxUnpackedBytes and refuses one byte more", async () => {
      const bytes = tarGz([file("a", "x".repeat(512))]);
      await receive(newId(), bytes, { maxUnpackedBytes: 2_048 });
      const failure = await failureOf(receive(newId(), bytes, { maxUnpackedBytes: 2_047 }));
      expect([failure.kind, failure.code]).toEqual(["too_large", "upload_unpacks_too_large"]);
      expect(failure.message).toContain("2047 bytes");
    });

    test("receive() refuses a file that announces more than maxUnpackedBytes before reading it", async () => {
      const failure = await failureOf(receive(newId(), tarGz([{ ...file("a"), size: 20_000_001 }])));
      expect([failure.kind, failure.code]).toEqual(["too_large", "upload_unpacks_too_large"]);
    });

    test("receive() accepts maxEntries entries and refuses one more", async () => {
      const many = [...Array(10).keys()].map((index) => file(`f${index}`));
      await receive(newId(), tarGz(many), { maxEntries: 10 });
      const failure = await failureOf(receive(newId(), tarGz([...many, file("one more")]), { maxEntries: 10 }));
      expect([failure.kind, failure.code]).toEqual(["too_large", "upload_too_many_entries"]);
      expect(failure.message).toContain("limit of 10 ");
    });

    test("receive() counts implied folders and repeated entries", async () => {
      for (const entries of [[file("a/b/c/d/e/f")], [...Array(6).keys()].map(() => file("same"))]) {
        const failure = await failureOf(receive(newId(), tarGz(entries), { maxEntries: 5 }));
        expect(failure.code).toBe("upload_too_many_entries");
        await receive(newId(), tarGz(entries), { maxEntries: 6 });
      }
    });

    test("receive() refuses link targets of more than 16 MiB in total", async () => {
      const linkpath = `${"x".repeat(249)}/`.repeat(16);
      const many = [...Array(4_300).keys()].flatMap((index) => [pax({ linkpath }), link(`l${index}`, "x")]);
      const failure = await failureOf(
        receive(newId(), tarGz([file("a"), ...many]), { maxEntries: 10_000, maxUnpackedBytes: 100_000_000 }),
      );
      expect([failure.kind, failure.code]).toEqual(["too_large", "upload_links_too_large"]);
    });

    test("receive() reports an upload that was cut short", async () => {
      const bytes = tarGz([file("a", randomInput("an upload").bytes(60_000))]);
      const id = newId();
      let pulls = 0;
      const broken = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (pulls++ === 0) controller.enqueue(bytes.slice(0, 30_000));
          else controller.error(new DOMException("The connection was closed.", "AbortError"));
        },
      });
      const failure = await failureOf(files.receive(id, broken, { limits }));
      expect([failure.kind, failure.code]).toEqual(["invalid", "upload_interrupted"]);
      expect(await ids()).not.toContain(id);
    });

    test("receive() rejects with the reason of the signal when aborted, even while nothing arrives", async () => {
      const id = newId();
      const abort = new AbortController();
      const cancelled = Promise.withResolvers<unknown>();
      const bytes = tarGz([file("a", randomInput("an upload").bytes(60_000))]);
      let pulls = 0;
      const stalled = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (pulls++ === 0) return controller.enqueue(bytes.slice(0, 30_000));
            setTimeout(() => abort.abort(new Error("the caller went away")), 5);
            return new Promise(() => {});
          },
          cancel: (reason) => cancelled.resolve(reason),
        },
        { highWaterMark: 0 },
      );
      const receiving = files.receive(id, stalled, { limits, signal: abort.signal });
      await expect(receiving).rejects.toThrow("the caller went away");
      await cancelled.promise;
      expect(await ids()).not.toContain(id);
    });

    test("receive() with a signal that was aborted before stores nothing", async () => {
      const id = newId();
      const signal = AbortSignal.abort(new Error("too late"));
      await expect(files.receive(id, streamOf(tarGz([file("a")])), { limits, signal })).rejects.toThrow("too late");
      expect(await ids()).not.toContain(id);
    });

    test("receive() asks for confirmation last, and keeps the former upload when it is refused", async () => {
      const id = await receiveEntries(file("former"));
      const archive = tarGz([file("new")]);
      const refused = files.receive(id, streamOf(archive), {
        limits,
        confirm: () => Promise.reject(new Failure("conflict", "upload_late", "Cannot keep this: it came too late")),
      });
      expect((await failureOf(refused)).code).toBe("upload_late");
      expect(await tree(id)).toEqual(["file former 7"]);
      const confirmed: string[] = [];
      const cut = files.receive(id, streamOf(archive.subarray(0, -9)), {
        limits,
        confirm: async () => void confirmed.push("cut"),
      });
      await failureOf(cut);
      await files.receive(id, streamOf(archive), { limits, confirm: async () => void confirmed.push("whole") });
      expect(confirmed).toEqual(["whole"]);
      expect(await tree(id)).toEqual(["file new 7"]);
      const never = newId();
      await expect(
        files.receive(never, streamOf(archive), { limits, confirm: () => Promise.reject(new Error("no")) }),
      ).rejects.toThrow("no");
      expect(await ids()).not.toContain(never);
    });

    test("receive() cancels the rest of an upload that it refuses", async () => {
      const cancelled = Promise.withResolvers<unknown>();
      const bytes = tarGz([file("../evil"), file("rest", randomInput("a hostile upload").bytes(200_000))]);
      const endless = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(bytes),
        cancel: (reason) => cancelled.resolve(reason),
      });
      expect((await failureOf(files.receive(newId(), endless, { limits }))).code).toBe("archive_name_refused");
      await cancelled.promise;
    });

    test("list() is sorted by path and yields nothing for an unknown id", async () => {
      const names = ["a/b", "a-b", "a0", "a.b/c", "B", "a/B", "ä", "a b/x", "a/b2/c"];
      const listed = await Array.fromAsync(files.list(await receiveEntries(...names.map((path) => file(path)))));
      const paths = listed.map(({ path }) => path);
      expect(paths).toEqual(paths.toSorted());
      expect(listed.filter(({ type }) => type === "file").map(({ path }) => path)).toEqual(names.toSorted());
      expect(await tree("upl_unknown0000000000000")).toEqual([]);
    });

    test("read() returns nothing for folders, absent files, oversized files and unknown ids", async () => {
      const id = await receiveEntries(file("d/f", "12345"), link("l", "d"));
      expect(await content(id, "d")).toBeUndefined();
      expect(await content(id, "l")).toBeUndefined();
      expect(await content(id, "d/f/g")).toBeUndefined();
      expect(await content(id, "")).toBeUndefined();
      expect(await content(id, ".")).toBeUndefined();
      expect(await content("upl_unknown0000000000000", "d/f")).toBeUndefined();
      expect(text(await files.read(id, "d/f", { maxBytes: 5 }))).toBe("12345");
      expect(await files.read(id, "d/f", { maxBytes: 4 })).toBeUndefined();
    });

    test("read() rejects with the given failure for oversized files, and only for those", async () => {
      const id = await receiveEntries(file("d/f", "12345"));
      const failure = invalid("too_large", "Cannot read this: it is too large");
      const read = (path: string, maxBytes: number) => files.read(id, path, { maxBytes, tooLarge: () => failure });
      expect(await failureOf(read("d/f", 4))).toBe(failure);
      expect(text(await read("d/f", 5))).toBe("12345");
      expect(await read("d", 0)).toBeUndefined();
      expect(await read("absent", 0)).toBeUndefined();
    });

    test("read() never reads outside of the folder", async () => {
      const id = await receiveEntries(file("d/f"));
      const other = await receiveEntries(file("secret"));
      for (const path of [
        "../tree/d/f",
        `../../${other}/tree/secret`,
        "d/../d/f",
        "/etc/passwd",
        "d/f\0",
        "a".repeat(5_000),
      ]) {
        expect(await content(id, path)).toBeUndefined();
      }
    });

    test("copyTo() fills a folder with the upload, repeatedly", async () => {
      const id = await receiveEntries(
        file("d/f", "12345"),
        { ...file("run", "#!/bin/sh"), mode: 0o755 },
        folder("empty"),
        file("large", "x".repeat(300_000)),
        link("l", "d"),
      );
      for (let turn = 0; turn < 2; turn++) {
        await using target = await temporaryFolder();
        await files.copyTo(id, target.path);
        expect((await readdir(target.path)).toSorted()).toEqual(["d", "empty", "l", "large", "run"]);
        expect(await readFile(join(target.path, "l/f"), "utf8")).toBe("12345");
        expect((await stat(join(target.path, "large"))).size).toBe(300_000);
        expect(await readlink(join(target.path, "l"))).toBe("d");
        expect((await stat(join(target.path, "run"))).mode & 0o111).not.toBe(0);
        await writeFile(join(target.path, "d/f"), "changed");
      }
      expect(await content(id, "d/f")).toBe("12345");
    });

    test("copyTo() with shared files makes a copy that outlives the upload", async () => {
      const id = await receiveEntries(file("d/f", "12345"), { ...file("run", "#!/bin/sh"), mode: 0o755 });
      await using target = await temporaryFolder();
      await files.copyTo(id, target.path, { shared: true });
      await files.discard(id);
      expect((await readdir(target.path)).toSorted()).toEqual(["d", "run"]);
      expect(await readFile(join(target.path, "d/f"), "utf8")).toBe("12345");
      expect((await stat(join(target.path, "run"))).mode & 0o111).not.toBe(0);
    });

    test("copyTo() of an unknown id fails, and with an aborted signal rejects with its reason", async () => {
      await using target = await temporaryFolder();
      const failure = await failureOf(files.copyTo("upl_unknown0000000000000", target.path));
      expect([failure.kind, failure.code]).toEqual(["not_found", "upload_gone"]);
      const id = await receiveEntries(file("a"));
      const signal = AbortSignal.abort(new Error("too late"));
      await expect(files.copyTo(id, target.path, { signal })).rejects.toThrow("too late");
      expect(await readdir(target.path)).toEqual([]);
    });

    test("archive() packs an upload so that receive() accepts it again", async () => {
      const long = `${"d".repeat(90)}/${"f".repeat(90)}`;
      const id = await receiveEntries(
        file("d/f", "12345"),
        { ...file("run", "#!/bin/sh"), mode: 0o755 },
        folder("empty"),
        file("large", "x".repeat(300_000)),
        pax({ path: long }),
        file("short", "far"),
        link("l", "d"),
      );
      const copy = newId();
      await files.receive(copy, await files.archive(id), { limits });
      expect(await tree(copy)).toEqual(await tree(id));
      expect([await content(copy, "l/f"), await content(copy, long)]).toEqual(["12345", "far"]);
      await using target = await temporaryFolder();
      await files.copyTo(copy, target.path);
      expect((await stat(join(target.path, "run"))).mode & 0o111).not.toBe(0);
      expect((await stat(join(target.path, "d/f"))).mode & 0o111).toBe(0);
    });

    test("archive() of an unknown id fails", async () => {
      const failure = await failureOf(files.archive("upl_unknown0000000000000"));
      expect([failure.kind, failure.code]).toEqual(["not_found", "upload_gone"]);
    });

    test("discard() removes one upload and ignores an unknown id", async () => {
      const [id, other] = [await receiveEntries(file("a")), await receiveEntries(file("b"))];
      await files.discard(id);
      await files.discard(id);
      expect(await tree(id)).toEqual([]);
      expect(await tree(other)).toEqual(["file b 7"]);
      expect(await ids()).toContain(other);
      expect(await ids()).not.toContain(id);
    });

    test("stored() returns when an id changed", async () => {
      const before = Date.now();
      const id = await receiveEntries(file("a"));
      const found = (await Array.fromAsync(files.stored())).find((upload) => upload.id === id);
      // File systems store times with a precision of a few milliseconds.
      expect(found!.changedAt.getTime()).toBeGreaterThanOrEqual(before - 50);
      expect(found!.changedAt.getTime()).toBeLessThanOrEqual(Date.now() + 50);
    });
  });
}
