import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isAbsolute } from "node:path";
import { Failure } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { file, link, streamOf, tar } from "../support/tar_archive.ts";
import type { ReleaseFolders } from "../../ports/release_folders.ts";

/** An adapter to try, and how a build writes into a folder that it made. */
export interface ReleaseFoldersFixture extends AsyncDisposable {
  readonly folders: ReleaseFolders;
  write(folder: string, path: string, content: string): Promise<void>;
}

const NO_IDS = ["", ".", "..", "../x", "a/b", "a\0b", "/etc", "-rf", "a".repeat(200)];

/** What every `ReleaseFolders` adapter promises. */
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

    test("make() gives an empty folder at an absolute path that is not finished", async () => {
      const id = newId("dep");
      expect(await folders.find(id)).toBeUndefined();
      const path = await folders.make(id);
      expect(isAbsolute(path)).toBe(true);
      expect(await folders.find(id)).toEqual({ path, finished: false });
      expect(await tree(id)).toEqual([]);
      expect(await list()).toContain(id);
    });

    test("place() puts what a tar holds in the place of a folder, and leaves the others", async () => {
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

    test("place() of a tar that leads out of its folder or breaks off leaves what was there", async () => {
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

    test("make() starts anew, whatever was there before", async () => {
      const id = await finished({ "a/b": "old" });
      const before = await folders.find(id);
      const path = await folders.make(id);
      expect(path).toBe(before!.path);
      expect(await folders.find(id)).toEqual({ path, finished: false });
      expect(await tree(id)).toEqual([]);
    });

    test("make() keeps deployments apart", async () => {
      const [one, two] = [await finished({ file: "one" }), await finished({ file: "two" })];
      expect((await folders.find(one))!.path).not.toBe((await folders.find(two))!.path);
      await folders.remove(one);
      expect(await text(two, "file")).toBe("two");
    });

    test("finish() makes a folder an artifact, where it is, and may be repeated", async () => {
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

    test("remove() takes away a folder, and does not mind an absent one", async () => {
      const id = await finished({ a: "a" });
      await folders.remove(id);
      await folders.remove(id);
      expect(await folders.find(id)).toBeUndefined();
      expect(await tree(id)).toEqual([]);
      expect(await text(id, "a")).toBeUndefined();
      expect(await list()).not.toContain(id);
    });

    test("remove() many times at once takes away a folder once", async () => {
      const id = await finished({ a: "a", "b/c": "c" });
      await Promise.all(Array.from({ length: 8 }, () => folders.remove(id)));
      expect(await list()).not.toContain(id);
    });

    test("copy() fills a fresh folder with what a finished one holds", async () => {
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

    test("entries() is sorted by path and leaves out what was installed and the history", async () => {
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

    test("read() gives a file, nothing for an absent, larger or outside one", async () => {
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
      expect(await text(newId("dep"), "a/b")).toBeUndefined();
    });

    test.each(NO_IDS)("no call takes %j for a deployment", async (id) => {
      await expect(folders.make(id)).rejects.toBeInstanceOf(Failure);
      await expect(folders.finish(id)).rejects.toBeInstanceOf(Failure);
      expect(await folders.find(id)).toBeUndefined();
      expect(await tree(id)).toEqual([]);
      expect(await text(id, "a")).toBeUndefined();
      await folders.remove(id);
    });
  });
}
