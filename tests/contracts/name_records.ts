import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { NameRecords } from "../../ports/domains/name_records.ts";

/**
 * Names to resolve: `both.test` has 192.0.2.1, 192.0.2.2 and 2001:db8::1; `four.test` has only 192.0.2.4; `text.test`
 * has the TXT records "one" and a long one in two parts, 300 times "x"; `empty.test` exists without records; queries
 * for `silent.test` time out.
 */
export interface NamesForContract extends Disposable {
  readonly records: NameRecords;
}

/** Contract tests for `NameRecords` adapters. */
export function nameRecordsContract(name: string, open: () => Promise<NamesForContract>) {
  describe(`NameRecords contract: ${name}`, () => {
    let names: NamesForContract;
    beforeAll(async () => {
      names = await open();
    });
    afterAll(() => names?.[Symbol.dispose]());

    test("addresses() returns all IPv4 and IPv6 addresses", async () => {
      expect([...(await names.records.addresses("both.test"))].sort()).toEqual([
        "192.0.2.1",
        "192.0.2.2",
        "2001:db8::1",
      ]);
      expect(await names.records.addresses("four.test")).toEqual(["192.0.2.4"]);
    });

    test("addresses() accepts a name in any case", async () => {
      expect(await names.records.addresses("FOUR.Test")).toEqual(["192.0.2.4"]);
    });

    test.each(["192.0.2.9", "2001:db8::9", "::ffff:192.0.2.9", "127.0.0.1"])(
      "addresses() resolves %s to itself",
      async (ip) => {
        expect(await names.records.addresses(ip)).toEqual([ip]);
      },
    );

    test.each([
      "missing.test",
      "empty.test",
      "",
      "a b.test",
      "a\n.test",
      "a\0.test",
      "a..test",
      `${"a".repeat(64)}.test`,
    ])("addresses() and texts() are empty for %j", async (missing) => {
      expect(await names.records.addresses(missing)).toEqual([]);
      expect(await names.records.texts(missing)).toEqual([]);
    });

    test("texts() joins the parts of each record", async () => {
      expect([...(await names.records.texts("text.test"))].sort()).toEqual(["one", "x".repeat(300)]);
    });

    test("addresses() and texts() fail when no server answers", async () => {
      const unavailable = { kind: "unavailable", code: "name_lookup_failed" };
      await expect(names.records.addresses("silent.test")).rejects.toMatchObject(unavailable);
      await expect(names.records.texts("silent.test")).rejects.toMatchObject(unavailable);
    });

    test("addresses() and texts() reject when their signal aborts", async () => {
      const unavailable = { kind: "unavailable", code: "name_lookup_failed" };
      await expect(names.records.addresses("four.test", { signal: AbortSignal.abort() })).rejects.toMatchObject(
        unavailable,
      );
      const signal = AbortSignal.timeout(20);
      await expect(names.records.texts("silent.test", { signal })).rejects.toMatchObject(unavailable);
    });
  });
}
