import { expect, test } from "bun:test";
import { MemoryClock } from "../../../adapters/memory/clock.ts";
import { MemoryTables } from "../../../adapters/memory/memory_tables.ts";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { MemoryPasswords } from "../../../adapters/memory/passwords.ts";
import { MemorySealedRows, type SealedRow } from "../../../adapters/memory/sealed_rows.ts";
import { MemoryVault } from "../../../adapters/memory/vault.ts";
import { storeContracts } from "../../contracts/all_stores.ts";
import { clockContract } from "../../contracts/clock.ts";
import { passwordsContract } from "../../contracts/passwords.ts";
import { type SealedRowsWorld, sealedRowsContract } from "../../contracts/sealed_rows.ts";
import type { StoreWorld } from "../../contracts/store_world.ts";
import { vaultContract } from "../../contracts/vault.ts";

function openMemory(tables = new MemoryTables()): StoreWorld {
  const { clock } = tables;
  const elapse = async (ms: number) => clock.advance(ms);
  return { ...memoryWorld(tables), elsewhere: memoryWorld(tables), now: () => clock.now(), elapse };
}

const used = new MemoryTables();

storeContracts("memory", async () => openMemory());
storeContracts("memory that was used before", async () => openMemory(used));
clockContract("memory", async () => new MemoryClock());
passwordsContract("memory", async () => new MemoryPasswords());
vaultContract("memory", async () => ({
  vault: new MemoryVault("first"),
  successor: new MemoryVault("second", "first"),
  stranger: new MemoryVault("third"),
}));
sealedRowsContract("memory", async () => sealedRowsInMemory());

function sealedRowsInMemory(): SealedRowsWorld {
  const rows: SealedRow[] = [];
  const former = new MemoryVault("former");
  const current = new MemoryVault("current", "former");
  return {
    sealedRows: new MemorySealedRows(rows, current),
    currentKey: "current",
    formerKey: "former",
    async storeFormerly(secret) {
      const place = { table: "list", row: `${rows.length}`, field: "value" };
      const row: SealedRow = { place, sealed: await former.seal(secret, place) };
      rows.push(row);
      return {
        read: () => current.open(row.sealed, place),
        async write(next) {
          row.sealed = await current.seal(next, place);
        },
      };
    },
  };
}

test("MemoryClock moves only on request", () => {
  const clock = new MemoryClock(new Date("2026-05-01T00:00:00.000Z"));
  expect(clock.now()).toEqual(new Date("2026-05-01T00:00:00.000Z"));
  clock.advance(1_500);
  expect(clock.now()).toEqual(new Date("2026-05-01T00:00:01.500Z"));
  clock.set(new Date("2020-01-01T00:00:00.000Z"));
  expect(clock.now()).toEqual(new Date("2020-01-01T00:00:00.000Z"));
});

test("MemoryServiceHealth returns the configured answer", async () => {
  const { serviceHealth } = memoryWorld();
  serviceHealth.answers = false;
  expect(await serviceHealth.databaseAnswers()).toBe(false);
});
