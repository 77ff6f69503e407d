import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isAbsolute } from "node:path";
import { Failure, invalid } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { file, link, streamOf, tar } from "../support/inputs/tar_archive.ts";
import type { ReleaseFolders } from "../../ports/deployments/release_folders.ts";

/** An adapter under test, and functions that write into its folders as a build does. */
export interface ReleaseFoldersFixture extends AsyncDisposable {
  readonly folders: ReleaseFolders;
  write(folder: string, path: string, content: string): Promise<void>;
  link(folder: string, path: string, target: string): Promise<void>;
  makeFolder(folder: string, path: string): Promise<void>;
  chmod(folder: string, path: string, mode: number): Promise<void>;
}

type Files = Readonly<Record<string, string>>;

async function nothing(): Promise<void> {}

const NO_IDS = ["", ".", "..", "../x", "a/b", "a\0b", "/etc", "-rf", "a".repeat(200)];

/** Contract tests for `ReleaseFolders` adapters. */
export function releaseFoldersContract(name: string, open: () => Promise<ReleaseFoldersFixture>) {
  describe(`ReleaseFolders contract: ${name}`, () => {
    let fixture: ReleaseFoldersFixture;
    let folders: ReleaseFolders;
    beforeAll(async () => {
      fixture = await open();
      folders = fixture.folders;
    });
    afterAll(async () => {
      await fixture?.[Symbol.asyncDispose]();
    });

    const list = () => Array.fromAsync(folders.list());
    const tree = async (id: string) =>
      (await Array.fromAsync(folders.entries(id))).map(({ path, type, size }) => `${type} ${path} ${size}`);
    const text = async (id: string, path: string, maxBytes = 1_000) => {
      const bytes = await folders.read(id, path, { maxBytes });
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    };
    const finished = async (files: Readonly<Record<string, string>> = {}) => {
      const id = newId("dep");
      const folder = await folders.make(id);
      for (const [path, content] of Object.entries(files)) await fixture.write(folder, path, content);
      await folders.finish(id);
      return id;
    };

    test("make() creates an empty, unfinished folder at an absolute path", async () => {
      const id = newId("dep");
      expect(await folders.find(id)).toBeUndefined();
      const path = await folders.make(id);
      expect(isAbsolute(path)).toBe(true);
      expect(await folders.find(id)).toEqual({ path, finished: false });
      expect(await tree(id)).toEqual([]);
      expect(await list()).toContain(id);
    });

    test("place() replaces a folder by the content of a tar, and leaves the others", async () => {
      const id = newId("dep");
      const folder = await folders.make(id);
      for (const path of ["src/main.ts", "web/dist/old.js", "web/index.ts"])
        await fixture.write(folder, path, "source");
      const built = tar([file("dist/index.html", "<h1>Hi</h1>"), file("dist/assets/app.js", "run()")]);
      await folders.place(id, "web/dist", streamOf(built));
      const files = (await tree(id)).filter((line) => line.startsWith("file"));
      expect(files).toEqual([
        "file src/main.ts 6",
        "file web/dist/assets/app.js 5",
        "file web/dist/index.html 11",
        "file web/index.ts 6",
      ]);
      expect(await text(id, "web/dist/index.html")).toBe("<h1>Hi</h1>");
      await folders.place(id, "", streamOf(tar([file("app/only.html", "all")])));
      expect(await tree(id)).toEqual(["file only.html 3"]);
    });

    test("place() of a tar that escapes its folder or is cut short changes nothing", async () => {
      const id = newId("dep");
      await fixture.write(await folders.make(id), "dist/index.html", "before");
      const hostile = [
        tar([file("../evil", "x")]),
        tar([link("dist/out", "/etc/passwd")]),
        tar([file("dist/a", "x")]).slice(0, 700),
      ];
      for (const bytes of hostile) {
        const error = await folders.place(id, "dist", streamOf(bytes)).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(Failure);
        expect(await tree(id)).toEqual(["folder dist 0", "file dist/index.html 6"]);
      }
      const missing = await folders
        .place(newId("dep"), "dist", streamOf(tar([file("dist/a")])))
        .catch((reason: unknown) => reason);
      expect(missing).toBeInstanceOf(Failure);
    });

    test("make() starts with an empty folder, even after a finished one", async () => {
      const id = await finished({ "a/b": "old" });
      const path = await folders.make(id);
      expect(await folders.find(id)).toEqual({ path, finished: false });
      expect(await tree(id)).toEqual([]);
    });

    test("make() creates a new path each time, so late writes to the previous one change nothing", async () => {
      const id = newId("dep");
      const former = await folders.make(id);
      await fixture.write(former, "before", "former");
      const path = await folders.make(id);
      expect(path).not.toBe(former);
      await fixture.write(path, "own", "new");
      await fixture.write(former, "own", "late").catch(nothing);
      await fixture.write(former, "late", "late").catch(nothing);
      expect(await tree(id)).toEqual(["file own 3"]);
      await folders.finish(id);
      expect(await folders.find(id)).toEqual({ path, finished: true });
      await folders.remove(id);
      expect(await folders.find(id)).toBeUndefined();
    });

    test("make() keeps deployments apart", async () => {
      const [one, two] = [await finished({ file: "one" }), await finished({ file: "two" })];
      expect((await folders.find(one))!.path).not.toBe((await folders.find(two))!.path);
      await folders.remove(one);
      expect(await text(two, "file")).toBe("two");
    });

    test("finish() makes a folder an artifact in its place, and may be repeated", async () => {
      const id = newId("dep");
      const path = await folders.make(id);
      await folders.finish(id);
      await folders.finish(id);
      expect(await folders.find(id)).toEqual({ path, finished: true });
    });

    test("finish() of an absent folder fails", async () => {
      const error = await folders.finish(newId("dep")).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Failure);
      expect((error as Failure).code).toBe("release_folder_gone");
    });

    test("remove() removes a folder, and ignores an absent one", async () => {
      const id = await finished({ a: "a" });
      await folders.remove(id);
      await folders.remove(id);
      expect(await folders.find(id)).toBeUndefined();
      expect(await tree(id)).toEqual([]);
      expect(await text(id, "a")).toBeUndefined();
      expect(await list()).not.toContain(id);
    });

    test("concurrent remove() calls remove a folder once", async () => {
      const id = await finished({ a: "a", "b/c": "c" });
      await Promise.all(Array.from({ length: 8 }, () => folders.remove(id)));
      expect(await list()).not.toContain(id);
    });

    test("copy() fills a new folder with the content of a finished one", async () => {
      const from = await finished({ "src/a": "a", "node_modules/m/index.js": "m" });
      const to = newId("dep");
      const folder = await folders.make(to);
      expect(await folders.copy(from, to)).toBe(true);
      expect(await text(to, "src/a")).toBe("a");
      expect(await text(to, "node_modules/m/index.js")).toBe("m");
      expect(await folders.find(to)).toEqual({ path: folder, finished: false });
      await fixture.write(folder, "src/b", "changed");
      expect(await text(from, "src/b")).toBeUndefined();
    });

    test("copy() copies nothing from an unfinished or absent folder", async () => {
      const [from, to] = [newId("dep"), newId("dep")];
      await folders.make(to);
      expect(await folders.copy(from, to)).toBe(false);
      await fixture.write(await folders.make(from), "a", "a");
      expect(await folders.copy(from, to)).toBe(false);
      expect(await tree(to)).toEqual([]);
    });

    test("entries() is sorted by path and leaves out installed packages and git history", async () => {
      const id = await finished({
        "a/b": "12345",
        "a-b": "",
        "node_modules/m": "m",
        "a/node_modules/m": "m",
        ".git/HEAD": "ref",
        ".gitignore": "x",
        "node_modules2/ü": "ü",
      });
      expect(await tree(id)).toEqual([
        "file .gitignore 1",
        "folder a 0",
        "file a-b 0",
        "file a/b 5",
        "folder node_modules2 0",
        "file node_modules2/ü 2",
      ]);
      expect(await tree(newId("dep"))).toEqual([]);
    });

    test("read() returns a file, and nothing for an absent, oversized or outside one", async () => {
      const id = await finished({ "a/b": "12345" });
      const other = await finished({ secret: "secret" });
      expect(await text(id, "a/b", 5)).toBe("12345");
      for (const path of [
        "a",
        "a/c",
        "",
        ".",
        "..",
        `../../${other}/tree/secret`,
        `../${other}/secret`,
        "/etc/passwd",
      ]) {
        expect(await text(id, path)).toBeUndefined();
      }
      expect(await text(id, "a/b", 4)).toBeUndefined();
      const failure = invalid("too_large", "Cannot read this: it is too large");
      const tooLarge = () => failure;
      expect(await folders.read(id, "a/b", { maxBytes: 4, tooLarge }).catch((reason: unknown) => reason)).toBe(failure);
      expect(await folders.read(id, "absent", { maxBytes: 4, tooLarge })).toBeUndefined();
      expect(await text(newId("dep"), "a/b")).toBeUndefined();
    });

    const TREE = { "conf/a.conf": "a", "conf/sub/b.conf": "b", other: "other", ".git/HEAD": "ref" };
    /** The digest at a path of a new release after some change. */
    const digestAfter = async (path: string, change: (folder: string) => Promise<unknown>, files: Files = TREE) => {
      const id = newId("dep");
      const folder = await folders.make(id);
      for (const [at, content] of Object.entries(files)) await fixture.write(folder, at, content);
      await change(folder);
      return (await folders.digest(id, path))?.digest;
    };

    const adorned = async (folder: string) => {
      await fixture.link(folder, "conf/link", "a.conf");
      await fixture.makeFolder(folder, "conf/empty");
      await fixture.chmod(folder, "conf/a.conf", 0o755);
      await fixture.chmod(folder, "conf/sub", 0o750);
    };
    const elsewhere = async (folder: string) => {
      await fixture.write(folder, "other", "changed");
      await fixture.write(folder, "conf/.git/index", "history");
      await fixture.write(folder, "conf/sub/.git", "gitdir: elsewhere");
    };

    test("digest() distinguishes files from folders, and covers the whole release for an empty path", async () => {
      const id = await finished(TREE);
      const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
      for (const path of ["", ".", "conf", "conf/", "./conf/sub"]) {
        expect([path, await folders.digest(id, path)]).toEqual([path, { kind: "folder", digest }]);
      }
      for (const path of ["other", "conf/a.conf"]) {
        expect([path, await folders.digest(id, path)]).toEqual([path, { kind: "file", digest }]);
      }
      for (const path of ["none", "conf/none", "none/none", "other/none", "n".repeat(300)]) {
        expect([path, await folders.digest(id, path)]).toEqual([path, undefined]);
      }
      expect(await folders.digest(newId("dep"), "")).toBeUndefined();
      const all = ["", "conf", "conf/sub", "other", "conf/a.conf", "conf/sub/b.conf"];
      const digests = await Promise.all(all.map(async (path) => (await folders.digest(id, path))!.digest));
      expect(new Set(digests).size).toBe(all.length);
    });

    test("digest() is the same for the same files of another release, and for a copy", async () => {
      const id = newId("dep");
      const folder = await folders.make(id);
      for (const [at, content] of Object.entries(TREE).toReversed()) await fixture.write(folder, at, content);
      await adorned(folder);
      await folders.finish(id);
      const copy = newId("dep");
      await folders.make(copy);
      await folders.copy(id, copy);
      for (const path of ["", "conf", "conf/a.conf"]) {
        const digest = (await folders.digest(id, path))?.digest;
        expect([path, await digestAfter(path, adorned)]).toEqual([path, digest]);
        expect([path, (await folders.digest(copy, path))?.digest]).toEqual([path, digest]);
      }
    });

    test("digest() detects every change below its path, and none elsewhere or in .git", async () => {
      const { "conf/a.conf": a, ...rest } = TREE;
      const digests = {
        plain: await digestAfter("conf", nothing),
        content: await digestAfter("conf", (folder) => fixture.write(folder, "conf/a.conf", "A")),
        deep: await digestAfter("conf", (folder) => fixture.write(folder, "conf/sub/b.conf", "B")),
        added: await digestAfter("conf", (folder) => fixture.write(folder, "conf/c.conf", "")),
        removed: await digestAfter("conf", nothing, rest),
        renamed: await digestAfter("conf", nothing, { ...rest, "conf/b.conf": a }),
        moved: await digestAfter("conf", nothing, { ...rest, "conf/sub/a.conf": a }),
        mode: await digestAfter("conf", (folder) => fixture.chmod(folder, "conf/a.conf", 0o755)),
        folderMode: await digestAfter("conf", (folder) => fixture.chmod(folder, "conf/sub", 0o700)),
        emptyFolder: await digestAfter("conf", (folder) => fixture.makeFolder(folder, "conf/empty")),
        emptyFile: await digestAfter("conf", (folder) => fixture.write(folder, "conf/empty", "")),
        link: await digestAfter("conf", (folder) => fixture.link(folder, "conf/link", "a.conf")),
        otherLink: await digestAfter("conf", (folder) => fixture.link(folder, "conf/link", "/etc/passwd")),
        textOfLink: await digestAfter("conf", (folder) => fixture.write(folder, "conf/link", "a.conf")),
      };
      const values = Object.values(digests);
      expect(values.every((digest) => digest !== undefined)).toBe(true);
      expect(Object.entries(digests).filter(([, each]) => values.indexOf(each) !== values.lastIndexOf(each))).toEqual(
        [],
      );
      expect(await digestAfter("conf", elsewhere)).toBe(digests.plain!);
      const whole = await digestAfter("", nothing);
      expect(await digestAfter("", (folder) => fixture.write(folder, ".git/HEAD", "changed"))).toBe(whole!);
      expect(await digestAfter("", (folder) => fixture.write(folder, "other", "changed"))).not.toBe(whole!);
      expect(await digestAfter("", (folder) => fixture.write(folder, ".gitignore", ""))).not.toBe(whole!);
      const single = await digestAfter("conf/a.conf", nothing);
      expect(await digestAfter("conf/a.conf", (folder) => fixture.chmod(folder, "conf/a.conf", 0o600))).not.toBe(
        single!,
      );
    });

    test("digest() accepts an empty folder", async () => {
      const id = newId("dep");
      const folder = await folders.make(id);
      expect(await folders.digest(id, "")).toMatchObject({ kind: "folder" });
      await fixture.makeFolder(folder, "empty");
      expect(await folders.digest(id, "empty")).toMatchObject({ kind: "folder" });
    });

    test("digest() refuses a path through a link, and one out of the release", async () => {
      const id = newId("dep");
      const folder = await folders.make(id);
      await fixture.write(folder, "conf/a.conf", "a");
      await fixture.link(folder, "folder-link", "conf");
      await fixture.link(folder, "conf/file-link", "a.conf");
      await fixture.link(folder, "dangling", "nowhere");
      await fixture.link(folder, "out", "/etc");
      for (const path of [
        "folder-link",
        "folder-link/a.conf",
        "conf/file-link",
        "dangling",
        "dangling/a",
        "out/passwd",
        "..",
        "../other",
        "conf/../conf",
        "conf/..",
        "/etc/passwd",
        "conf\0",
      ]) {
        const error = (await folders.digest(id, path).catch((reason: unknown) => reason)) as Failure;
        expect([path, error.kind, error.code]).toEqual([path, "invalid", "link_outside"]);
        expect(error.message).toStartWith("Cannot use this path: ");
      }
    });

    test.each(NO_IDS)("no method accepts %j as a deployment", async (id) => {
      await expect(folders.make(id)).rejects.toBeInstanceOf(Failure);
      await expect(folders.finish(id)).rejects.toBeInstanceOf(Failure);
      expect(await folders.find(id)).toBeUndefined();
      expect(await tree(id)).toEqual([]);
      expect(await text(id, "a")).toBeUndefined();
      expect(await folders.digest(id, "")).toBeUndefined();
      await folders.remove(id);
    });
  });
}
