import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import type { SealedRows } from "../../ports/system/sealed_rows.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";

/** A stored secret, read and written by its owner with the current key. */
export interface StoredSecret {
  read(): Promise<Secret>;
  write(secret: Secret): Promise<void>;
}

/** Stored secrets after a key rotation: the former key only decrypts. Other secrets may exist, too. */
export interface SealedRowsWorld extends Partial<AsyncDisposable> {
  readonly sealedRows: SealedRows;
  readonly currentKey: string;
  readonly formerKey: string;
  /** Stores a secret encrypted (sealed) with the former key. */
  storeFormerly(secret: Secret): Promise<StoredSecret>;
}

/** Contract tests for `SealedRows` adapters. */
export function sealedRowsContract(name: string, open: () => Promise<SealedRowsWorld>) {
  describe(`SealedRows contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function count(key: string): Promise<number> {
      return (await world().sealedRows.countByKey()).get(key) ?? 0;
    }

    async function resealAll(): Promise<void> {
      while ((await world().sealedRows.reseal(100)) > 0);
    }

    test("countByKey() counts the secrets of each key", async () => {
      const { currentKey, formerKey, storeFormerly } = world();
      const [current, former] = [await count(currentKey), await count(formerKey)];
      const first = await storeFormerly(new Secret("one"));
      await storeFormerly(new Secret("two"));
      expect(await count(formerKey)).toBe(former + 2);
      await first.write(new Secret("anew"));
      expect(await count(formerKey)).toBe(former + 1);
      expect(await count(currentKey)).toBe(current + 1);
    });

    test("reseal() moves every secret to the current key and keeps its value", async () => {
      const { currentKey, formerKey, storeFormerly, sealedRows } = world();
      const texts = [...oddTexts, ""];
      const stored = [];
      for (const text of texts) stored.push(await storeFormerly(new Secret(text)));
      const [current, former] = [await count(currentKey), await count(formerKey)];
      await resealAll();
      expect(await count(formerKey)).toBe(0);
      expect(await count(currentKey)).toBe(current + former);
      for (const [index, secret] of stored.entries()) expect((await secret.read()).reveal()).toBe(texts[index]!);
      expect(await sealedRows.reseal(100)).toBe(0);
    });

    test("reseal() handles no more than the limit at a time", async () => {
      const { formerKey, storeFormerly, sealedRows } = world();
      await resealAll();
      for (const text of ["a", "b", "c"]) await storeFormerly(new Secret(text));
      expect(await sealedRows.reseal(2)).toBe(2);
      expect(await count(formerKey)).toBe(1);
      expect(await sealedRows.reseal(2)).toBe(1);
      expect(await sealedRows.reseal(2)).toBe(0);
    });

    test("reseal() does not overwrite a value that is changed concurrently", async () => {
      const { storeFormerly, sealedRows } = world();
      for (let round = 0; round < 5; round++) {
        const stored = [];
        for (let index = 0; index < 5; index++) stored.push(await storeFormerly(new Secret("old")));
        await Promise.all([sealedRows.reseal(100), ...stored.map((secret) => secret.write(new Secret("new")))]);
        for (const secret of stored) expect((await secret.read()).reveal()).toBe("new");
      }
    });

    test("two concurrent reseal() calls leave every secret readable, with none on the former key", async () => {
      const { formerKey, storeFormerly, sealedRows } = world();
      const stored = [];
      for (let index = 0; index < 10; index++) stored.push(await storeFormerly(new Secret(`value ${index}`)));
      await Promise.all([sealedRows.reseal(100), sealedRows.reseal(100)]);
      await resealAll();
      expect(await count(formerKey)).toBe(0);
      for (const [index, secret] of stored.entries()) expect((await secret.read()).reveal()).toBe(`value ${index}`);
    });
  });
}
