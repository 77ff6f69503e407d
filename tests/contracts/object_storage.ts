import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compareKeys } from "../../domain/backups/object_key.ts";
import type { ObjectStorage } from "../../ports/backups/object_storage.ts";
import type { OpenStorage } from "../../ports/backups/object_storages.ts";
import { body, brokenBody, digestOf, textBody, textOf } from "../support/inputs/bodies.ts";
import { memoryGrowth } from "../support/memory_growth.ts";

/** A storage under test, which may contain other objects. */
export interface StorageForContract extends AsyncDisposable {
  readonly storage: OpenStorage;
  /** The names of everything in the storage, including the leftovers of unfinished writes. */
  raw(): Promise<readonly string[]>;
  /** Leaves behind what a writer of this key leaves when it is killed midway. */
  abandon(key: string): Promise<void>;
}

/** Parameters that differ between storages. */
export interface StorageContractOptions {
  /** The size of the largest body. Defaults to 2 MiB. */
  readonly largest?: number;
  /** The size from which on a body is written in parts. Defaults to 256 KiB. */
  readonly part?: number;
}

const MIB = 1024 * 1024;

const ODD_KEYS = [
  "with space/and  two.tar",
  "日本語/café cafe\u0301/🚀.bin",
  "+&=?%#;:@!$'()*,[]{}|^~`\"<>\\",
  "%2e%2e/%2F/a%00",
  "-rf/--option",
  "$(id)/`id`/${HOME}",
  "...",
  ".hidden/..also",
  `${`${"long".repeat(12)}/`.repeat(18)}${"k".repeat(118)}`,
  `${"x".repeat(200)}/${"y".repeat(200)}/${"z".repeat(200)}/${"ä".repeat(100)}`,
  "CaSe",
  "case",
];

const REFUSED_KEYS = [
  "",
  "/absolute",
  "ends/",
  "two//slashes",
  "..",
  "../out",
  "a/../../out",
  "./here",
  "a/./b",
  "nul\0",
  "line\nbreak",
  "x".repeat(1_000),
  "lone \ud800 surrogate",
  `${"deep/".repeat(210)}end`,
];

/** Contract tests for `ObjectStorage` adapters. */
export function objectStorageContract(
  name: string,
  open: () => Promise<StorageForContract>,
  { largest = 2 * MIB, part = MIB / 4 }: StorageContractOptions = {},
) {
  describe(`ObjectStorage contract: ${name}`, () => {
    let place: StorageForContract;
    let storage: ObjectStorage;
    let folders = 0;
    beforeAll(async () => {
      place = await open();
      storage = place.storage;
    });
    afterAll(async () => {
      await place?.[Symbol.asyncDispose]();
    });

    /** A folder that no other test uses. */
    const folder = () => `contract-${process.pid}-${folders++}`;
    const put = (key: string, text: string) => storage.put(key, textBody(text));
    const read = async (key: string) => textOf(await storage.get(key));
    const rawIn = async (prefix: string) => (await place.raw()).filter((found) => found.startsWith(prefix));

    test("a missing object is absent, and removing it succeeds", async () => {
      const at = folder();
      for (const key of [`${at}/absent`, `${at}/far/away/absent`]) {
        expect(await storage.get(key)).toBeUndefined();
        expect(await storage.stat(key)).toBeUndefined();
        await storage.remove(key);
        await storage.discard(key);
      }
      expect(await storage.list(`${at}/`)).toEqual({ objects: [], next: null });
      expect(await storage.unfinished(`${at}/`)).toEqual([]);
      expect(await storage.sweep(`${at}/`, { before: new Date() })).toBe(0);
    });

    test("put() stores what get() returns, and remove() removes it", async () => {
      const key = `${folder()}/a/b.txt`;
      expect(await put(key, "hello")).toBe(5);
      expect(await read(key)).toBe("hello");
      const found = await storage.stat(key);
      expect(found).toMatchObject({ key, bytes: 5 });
      expect(Math.abs(found!.modifiedAt.getTime() - Date.now())).toBeLessThan(600_000);
      await storage.remove(key);
      expect(await storage.get(key)).toBeUndefined();
      expect(await storage.stat(key)).toBeUndefined();
    });

    test("put() replaces an existing object", async () => {
      const key = `${folder()}/replaced`;
      await put(key, "first, and longer");
      await put(key, "second");
      expect(await read(key)).toBe("second");
      expect(await storage.stat(key)).toMatchObject({ bytes: 6 });
      expect(await rawIn(key)).toHaveLength(1);
    });

    test.each([0, 1, part - 1, part, part + 1, 2 * part + 77])("a body of %d bytes is returned whole", async (size) => {
      const key = `${folder()}/sized`;
      const { stream, digest } = body(size);
      expect(await storage.put(key, stream)).toBe(size);
      expect(await digestOf(await storage.get(key))).toEqual({ bytes: size, digest: digest() });
      expect(await storage.stat(key)).toMatchObject({ bytes: size });
      await storage.remove(key);
    });

    test(`a body of ${largest} bytes passes in constant memory`, async () => {
      const key = `${folder()}/large`;
      const { stream, digest } = body(largest);
      const grown = await memoryGrowth(async () => {
        expect(await storage.put(key, stream)).toBe(largest);
        expect(await digestOf(await storage.get(key))).toEqual({ bytes: largest, digest: digest() });
      });
      // A small body allows no conclusion.
      expect(grown).toBeLessThan(Math.max((largest * 2) / 3, 128 * 2 ** 20));
      await storage.remove(key);
    });

    test.each(ODD_KEYS)("the key %j is accepted", async (key) => {
      const at = folder().slice(0, 20);
      const full = `${at}/${key}`;
      await put(full, key);
      expect(await read(full)).toBe(key);
      expect((await storage.list(full)).objects.map((object) => object.key)).toEqual([full]);
      await storage.remove(full);
      expect((await storage.list(`${at}/`)).objects).toEqual([]);
    });

    test.each(REFUSED_KEYS)("the key %j is refused everywhere", async (key) => {
      const refused = { code: "invalid_object_key", kind: "invalid" };
      await expect(put(key, "x")).rejects.toMatchObject(refused);
      await expect(storage.get(key)).rejects.toMatchObject(refused);
      await expect(storage.stat(key)).rejects.toMatchObject(refused);
      await expect(storage.remove(key)).rejects.toMatchObject(refused);
    });

    test("list() returns keys in the order of their bytes, page by page, and only those with the prefix", async () => {
      const at = folder();
      const names = ["a", "a-b", "a.b/c", "a.b/d/e", "a/b", "b", "B", "ab/c", "ä", "z\uffee", "z\u{1f680}", "z/1", "0"];
      // Not every storage allows a name to be both a file and a folder.
      const keys = names.filter((each) => each !== "a").map((each) => `${at}/in/${each}`);
      await Promise.all([...keys, `${at}/inside`, `${at}/other/x`].map((key) => put(key, key)));
      const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(keys.toSorted(compareKeys)).toEqual(sorted);
      for (const limit of [1, 2, 5, 12, 1_000]) {
        const seen: string[] = [];
        let after: string | undefined;
        for (;;) {
          const page = await storage.list(`${at}/in/`, { limit, after });
          expect(page.objects.length).toBeLessThanOrEqual(limit);
          seen.push(...page.objects.map(({ key }) => key));
          if (page.next === null) break;
          after = page.next;
        }
        expect([limit, seen]).toEqual([limit, sorted]);
      }
      const first = await storage.list(`${at}/in/a`, { after: `${at}/in/a.b/c` });
      expect(first.objects.map(({ key }) => key)).toEqual([`${at}/in/a.b/d/e`, `${at}/in/a/b`, `${at}/in/ab/c`]);
      expect(first.objects[1]).toMatchObject({ bytes: Buffer.byteLength(`${at}/in/a/b`) });
    });

    test("list() continues after the end of a page, even when its last key was removed", async () => {
      const at = folder();
      for (const key of ["1/x", "2/x", "3/x"]) await put(`${at}/${key}`, key);
      const { next } = await storage.list(`${at}/`, { limit: 2 });
      await storage.remove(`${at}/2/x`);
      expect((await storage.list(`${at}/`, { after: next! })).objects.map(({ key }) => key)).toEqual([`${at}/3/x`]);
    });

    test("put() with a source that throws changes nothing, leaves nothing and rejects with its error", async () => {
      const at = folder();
      const error = new Error("The source broke");
      await put(`${at}/kept`, "kept");
      for (const [key, size] of [
        ["kept", 100],
        ["kept", 3 * part],
        ["new/one", 3 * part],
      ] as const) {
        await expect(storage.put(`${at}/${key}`, brokenBody(size, error))).rejects.toBe(error);
      }
      expect(await read(`${at}/kept`)).toBe("kept");
      expect(await storage.unfinished(`${at}/`)).toEqual([]);
      expect(await rawIn(at)).toEqual([`${at}/kept`]);
    });

    test.each([0, 100, 3 * part])(
      "put() that is aborted after %d bytes changes nothing and leaves nothing",
      async (size) => {
        const at = folder();
        await put(`${at}/kept`, "kept");
        for (const key of ["kept", "new"]) {
          const aborting = new AbortController();
          const stored = storage.put(`${at}/${key}`, brokenBody(size, "hangs"), { signal: aborting.signal });
          stored.catch(() => {});
          await Bun.sleep(20);
          const reason = new Error("Enough");
          aborting.abort(reason);
          await expect(stored).rejects.toBe(reason);
        }
        expect(await read(`${at}/kept`)).toBe("kept");
        expect(await rawIn(at)).toEqual([`${at}/kept`]);
      },
    );

    test("an aborted signal rejects every operation with its reason", async () => {
      const reason = new Error("No longer wanted");
      const options = { signal: AbortSignal.abort(reason) };
      const key = `${folder()}/x`;
      const all = [
        storage.put(key, textBody("x"), options),
        storage.get(key, options),
        storage.stat(key, options),
        storage.list(key, options),
        storage.remove(key, options),
        storage.unfinished(key, options),
        storage.discard(key, options),
        storage.sweep(key, { ...options, before: new Date() }),
      ];
      const ended = await Promise.allSettled(all);
      expect(ended.map((each) => each.status === "rejected" && each.reason)).toEqual(all.map(() => reason));
    });

    test("get() that is aborted midway ends its stream with the reason", async () => {
      const key = `${folder()}/aborted`;
      await storage.put(key, body(8 * MIB).stream);
      const aborting = new AbortController();
      const stream = await storage.get(key, { signal: aborting.signal });
      const reader = stream!.getReader();
      await reader.read();
      const reason = new Error("Enough");
      aborting.abort(reason);
      const readOn = async () => {
        while (!(await reader.read()).done);
      };
      await expect(readOn()).rejects.toBe(reason);
      expect(await storage.stat(key)).toMatchObject({ bytes: 8 * MIB });
    });

    test("get() that is cancelled midway does not affect the next operation", async () => {
      const key = `${folder()}/cancelled`;
      await storage.put(key, body(8 * MIB).stream);
      for (let time = 0; time < 5; time++) {
        const reader = (await storage.get(key))!.getReader();
        await reader.read();
        await reader.cancel();
      }
      expect((await digestOf(await storage.get(key)))?.bytes).toBe(8 * MIB);
    });

    test("of several concurrent writers one wins, with a complete object", async () => {
      const key = `${folder()}/contended`;
      const bodies = [3, 9, 1, 5].map((size) => body(Math.floor((size * part) / 4) + size));
      await Promise.all(bodies.map(({ stream }) => storage.put(key, stream)));
      const found = await digestOf(await storage.get(key));
      expect(bodies.map(({ digest }) => digest())).toContain(found!.digest);
      expect(await rawIn(key)).toEqual([key]);
    });

    test("many concurrent operations all succeed", async () => {
      const at = folder();
      const keys = Array.from({ length: 40 }, (_, index) => `${at}/${index % 4}/${index}`);
      await Promise.all(keys.map((key) => put(key, key)));
      expect(await Promise.all(keys.map(read))).toEqual(keys);
      await Promise.all(keys.map((key) => storage.remove(key)));
      expect((await storage.list(`${at}/`)).objects).toEqual([]);
    });

    test("a killed writer leaves no object; unfinished() lists its write, which can be discarded", async () => {
      const at = folder();
      const keys = [`${at}/left`, `${at}/left too`];
      for (const key of keys) await place.abandon(key);
      await put(`${at}/whole`, "whole");
      expect((await storage.list(`${at}/`)).objects.map(({ key }) => key)).toEqual([`${at}/whole`]);
      expect(await storage.get(keys[0]!)).toBeUndefined();
      expect((await storage.unfinished(`${at}/`)).toSorted()).toEqual(keys);
      expect(await storage.unfinished(`${at}/left t`)).toEqual([keys[1]!]);
      await storage.discard(keys[0]!);
      expect(await storage.unfinished(`${at}/`)).toEqual([keys[1]!]);
      await storage.discard(keys[1]!);
      await storage.discard(`${at}/whole`);
      expect(await rawIn(at)).toEqual([`${at}/whole`]);
    });

    test("sweep() removes unfinished writes in all folders once they are old enough", async () => {
      const [at, beside] = [folder(), folder()];
      const left = [`${at}/left`, `${at}/deep/down/left`, `${at}/deep/other`, `${beside}/left`];
      for (const key of left) await place.abandon(key);
      await put(`${at}/deep/whole`, "whole");
      const [past, future] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000)) as [Date, Date];
      expect(await storage.sweep(`${at}/`, { before: past })).toBe(0);
      expect(await rawIn(at)).toHaveLength(4);
      expect(await storage.sweep(`${at}/deep/d`, { before: future })).toBe(1);
      expect(await storage.unfinished(`${at}/deep/`)).toEqual([`${at}/deep/other`]);
      expect(await storage.sweep(`${at}/`, { before: future })).toBe(2);
      expect(await rawIn(at)).toEqual([`${at}/deep/whole`]);
      expect(await storage.unfinished(`${beside}/`)).toEqual([`${beside}/left`]);
    });

    test("sweep() keeps a write that is still running", async () => {
      const key = `${folder()}/written`;
      const aborting = new AbortController();
      const stored = storage.put(key, brokenBody(3 * part, "hangs"), { signal: aborting.signal });
      stored.catch(() => {});
      const past = new Date(Date.now() - 3_600_000);
      expect(await storage.sweep(key, { before: past })).toBe(0);
      const again = body(100);
      await storage.put(key, again.stream);
      expect(await storage.sweep(key, { before: past })).toBe(0);
      aborting.abort(new Error("Enough"));
      await expect(stored).rejects.toThrow("Enough");
      expect((await digestOf(await storage.get(key)))?.digest).toBe(again.digest());
    });
  });
}
