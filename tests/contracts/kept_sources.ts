import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Failure } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import type { KeptSources } from "../../ports/projects/kept_sources.ts";

/** An adapter under test, and folders to copy to. */
export interface KeptSourcesFixture extends AsyncDisposable {
  readonly kept: KeptSources;
  /** Writes into a folder that `keep()` provided or that was copied to. */
  write(folder: string, path: string, content: string): Promise<void>;
  link(folder: string, path: string, target: string): Promise<void>;
  newFolder(): Promise<string>;
  /** The content of a folder: file contents, and symlink targets after an arrow. */
  contentOf(folder: string): Promise<Record<string, string>>;
}

type Files = Readonly<Record<string, string>>;

const FILES = { "package.json": "{}", "src/server.js": "listen()" };
const NO_IDS = ["", ".", "..", "../x", "a/b", "a\0b", "/etc", "-rf", "a".repeat(200)];

/** Contract tests for `KeptSources` adapters. */
export function keptSourcesContract(name: string, open: () => Promise<KeptSourcesFixture>) {
  describe(`KeptSources contract: ${name}`, () => {
    let fixture: KeptSourcesFixture;
    let kept: KeptSources;
    beforeAll(async () => {
      fixture = await open();
      kept = fixture.kept;
    });
    afterAll(async () => {
      await fixture?.[Symbol.asyncDispose]();
    });

    const list = () => Array.fromAsync(kept.list());
    const fillWith = (files: Files) => async (folder: string) => {
      for (const [path, content] of Object.entries(files)) await fixture.write(folder, path, content);
    };
    const keep = async (files: Files = FILES) => {
      const id = newId("dep");
      await kept.keep(id, fillWith(files));
      return id;
    };
    /** Copies the sources of a deployment; returns the folder and its content. */
    const copied = async (id: string) => {
      const folder = await fixture.newFolder();
      expect(await kept.copyTo(id, folder)).toBe(true);
      return { folder, content: await fixture.contentOf(folder) };
    };

    test("keep() stores what was written to the given folder, with links unchanged", async () => {
      const id = newId("dep");
      expect(await kept.has(id)).toBe(false);
      await kept.keep(id, async (folder) => {
        await fillWith(FILES)(folder);
        await fixture.link(folder, "current", "src/server.js");
        expect(await kept.has(id)).toBe(false);
      });
      expect(await kept.has(id)).toBe(true);
      expect(await list()).toContain(id);
      expect((await copied(id)).content).toEqual({ ...FILES, current: "-> src/server.js" });
    });

    test("keep() replaces what was stored before", async () => {
      const id = await keep({ old: "one" });
      await kept.keep(id, fillWith({ new: "two" }));
      expect((await copied(id)).content).toEqual({ new: "two" });
    });

    test("keep() changes nothing when filling the folder fails, and rejects with the reason", async () => {
      const [id, fresh] = [await keep(), newId("dep")];
      const reason = new Error("the source is away");
      for (const each of [id, fresh]) {
        const half = async (folder: string) => {
          await fixture.write(folder, "half", "");
          throw reason;
        };
        expect(await kept.keep(each, half).catch((error: unknown) => error)).toBe(reason);
      }
      expect((await copied(id)).content).toEqual(FILES);
      expect(await kept.has(fresh)).toBe(false);
      expect(await list()).not.toContain(fresh);
    });

    test("concurrent keep() calls for one deployment store the complete files of one of them", async () => {
      const id = newId("dep");
      const versions = ["one", "two", "three", "four"].map((text) => ({ a: text, b: text }));
      await Promise.all(versions.map((files) => kept.keep(id, fillWith(files))));
      expect(versions).toContainEqual((await copied(id)).content as (typeof versions)[number]);
    });

    test("copyTo() makes a copy that can be changed without changing the stored files", async () => {
      const id = await keep();
      const { folder } = await copied(id);
      await fixture.write(folder, "src/server.js", "changed()");
      await fixture.write(folder, "dist/app.js", "built()");
      expect((await copied(id)).content).toEqual(FILES);
    });

    test("copyTo() of a deployment without stored files copies nothing", async () => {
      const folder = await fixture.newFolder();
      expect(await kept.copyTo(newId("dep"), folder)).toBe(false);
      expect(await fixture.contentOf(folder)).toEqual({});
    });

    test("copyTo() rejects with the reason of its signal", async () => {
      const [id, folder] = [await keep(), await fixture.newFolder()];
      const reason = new Error("cancelled");
      const signal = AbortSignal.abort(reason);
      expect(await kept.copyTo(id, folder, { signal }).catch((error: unknown) => error)).toBe(reason);
    });

    test("share() stores the same files for another deployment, even when the first is removed", async () => {
      const [from, to] = [await keep(), newId("dep")];
      expect(await kept.share(from, to)).toBe(true);
      await kept.remove(from);
      const { folder, content } = await copied(to);
      expect(content).toEqual(FILES);
      const next = newId("dep");
      expect(await kept.share(to, next)).toBe(true);
      await fixture.write(folder, "src/server.js", "changed()");
      expect((await copied(next)).content).toEqual(FILES);
    });

    test("share() of a deployment without stored files stores nothing", async () => {
      const to = newId("dep");
      expect(await kept.share(newId("dep"), to)).toBe(false);
      expect(await kept.has(to)).toBe(false);
    });

    test("share() stores nothing when it is not confirmed", async () => {
      const [from, to] = [await keep(), newId("dep")];
      const reason = new Error("another worker took over");
      const confirm = () => Promise.reject(reason);
      expect(await kept.share(from, to, { confirm }).catch((error: unknown) => error)).toBe(reason);
      expect(await kept.has(to)).toBe(false);
    });

    test("remove() removes the files of one deployment only, and ignores an unknown one", async () => {
      const [one, other] = [await keep(), await keep()];
      await kept.remove(one);
      await kept.remove(one);
      expect([await kept.has(one), await kept.has(other)]).toEqual([false, true]);
      expect(await list()).not.toContain(one);
      expect(await list()).toContain(other);
    });

    test.each(NO_IDS)("%j is not an id: nothing is stored for it", async (id) => {
      const error = await kept.keep(id, fillWith(FILES)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Failure);
      expect([await kept.has(id), await kept.copyTo(id, await fixture.newFolder())]).toEqual([false, false]);
      expect(await kept.share(id, newId("dep"))).toBe(false);
      await kept.remove(id);
    });
  });
}
