import { describe, expect, test } from "bun:test";
import { DnsNameRecords } from "../../adapters/dns/name_records.ts";
import { MemoryNameRecords } from "../../adapters/memory/name_records.ts";
import { dnsServer } from "../support/peers/dns_server.ts";
import { nameRecordsContract } from "../contracts/name_records.ts";

const LONG = "x".repeat(300);

nameRecordsContract("memory", async () => ({
  records: new MemoryNameRecords({
    "both.test": { addresses: ["192.0.2.1", "192.0.2.2", "2001:db8::1"] },
    "four.test": { addresses: ["192.0.2.4"] },
    "text.test": { texts: ["one", LONG] },
    "empty.test": {},
    "silent.test": { silent: true },
  }),
  [Symbol.dispose]() {},
}));

nameRecordsContract("DNS", async () => {
  const server = await dnsServer({
    "both.test": { a: ["192.0.2.1", "192.0.2.2"], aaaa: ["2001:db8::1"] },
    "four.test": { a: ["192.0.2.4"] },
    "text.test": { txt: [["one"], [LONG.slice(0, 255), LONG.slice(255)]] },
    "empty.test": {},
    "silent.test": { silent: true },
  });
  return {
    records: new DnsNameRecords({ servers: [server.address], timeoutMs: 1_500 }),
    [Symbol.dispose]: () => server[Symbol.dispose](),
  };
});

describe("DnsNameRecords", () => {
  test("addresses() uses the system's hosts file when no servers are given", async () => {
    const found = await new DnsNameRecords().addresses("localhost");
    expect(found.length).toBeGreaterThan(0);
    for (const address of found) expect(["127.0.0.1", "::1"]).toContain(address);
  });

  test("addresses() is empty for a name that the system cannot resolve", async () => {
    expect(await new DnsNameRecords().addresses("no-such-host.invalid")).toEqual([]);
  });

  test("addresses() and texts() fail instead of being empty when the server fails", async () => {
    using server = await dnsServer({ "broken.test": { broken: true } });
    const records = new DnsNameRecords({ servers: [server.address], timeoutMs: 20_000 });
    await expect(records.addresses("broken.test")).rejects.toMatchObject({ code: "name_lookup_failed" });
    await expect(records.texts("broken.test")).rejects.toMatchObject({ code: "name_lookup_failed" });
  });

  test("addresses() queries the server again each time", async () => {
    using server = await dnsServer({ "four.test": { a: ["192.0.2.4"] } });
    const records = new DnsNameRecords({ servers: [server.address], timeoutMs: 20_000 });
    await records.addresses("four.test");
    await records.addresses("four.test");
    expect(server.queries).toEqual(Array(4).fill("four.test"));
  });
});
