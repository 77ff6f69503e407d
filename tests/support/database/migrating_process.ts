import { ALL_MIGRATIONS } from "../../../adapters/postgres/migrations/all_migrations.ts";
import { migrate } from "../../../adapters/postgres/migrate.ts";

// A process of its own that brings a database forward, its last step as slow as told.
const [url = "", seconds = "0"] = process.argv.slice(2);
const slow = { version: 1_000, name: "slow", text: `create table slow (); select pg_sleep(${Number(seconds)})` };
await migrate(url, [...ALL_MIGRATIONS, slow]);
process.stdout.write("done\n");
