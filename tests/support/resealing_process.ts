import { CryptoVault } from "../../adapters/crypto/vault.ts";
import { postgresWorld } from "../../adapters/postgres/postgres_world.ts";

// A process of its own that seals everything anew, one secret at a time, and tells of each.
const [url = "", folder = ""] = process.argv.slice(2);
const world = await postgresWorld({ url, vault: await CryptoVault.load({ folder }) });
while ((await world.sealedRows.reseal(1)) > 0) process.stdout.write("one\n");
process.stdout.write("done\n");
await world[Symbol.asyncDispose]();
