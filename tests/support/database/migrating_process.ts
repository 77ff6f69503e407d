import { ALL_MIGRATIONS } from "../../../adapters/postgres/migrations/all_migrations.ts";
import { migrate } from "../../../adapters/postgres/migrate.ts";

// A separate process that migrates a database. Its last migration takes the given number of seconds.
const [url = "", seconds = "0"] = process.argv.slice(2);
const slow = { version: 1_000, name: "slow", text: `create table slow (); select pg_sleep(${Number(seconds)})` };
await migrate(url, [...ALL_MIGRATIONS, slow]);
process.stdout.write("done\n");
