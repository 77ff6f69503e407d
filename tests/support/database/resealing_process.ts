import { join } from "node:path";
import { CryptoVault } from "../../../adapters/crypto/vault.ts";
import { CombinedSealedRows } from "../../../adapters/dispatch/combined_sealed_rows.ts";
import { postgresWorld } from "../../../adapters/postgres/postgres_world.ts";
import { SealedInstances } from "../../../adapters/process/sealed_instances.ts";

// A separate process that re-encrypts (reseals) every secret, one at a time, and prints a line for each. The keys
// default to those in the folder.
const [url = "", folder = "", current, ...previous] = process.argv.slice(2);
const vault = await CryptoVault.load({ folder, current, previous });
const world = await postgresWorld({ url, vault });
const sealedRows = new CombinedSealedRows([
  new SealedInstances({ folder: join(folder, "instances"), vault }),
  world.sealedRows,
]);
while ((await sealedRows.reseal(1)) > 0) process.stdout.write("one\n");
process.stdout.write("done\n");
await world[Symbol.asyncDispose]();
