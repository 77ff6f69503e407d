import { embeddedPostgres } from "./embedded_postgres.ts";

// A process of its own that owns an embedded PostgreSQL: prints its address, or why it failed, then lives until killed.
const started = Date.now();
try {
  const { url } = await embeddedPostgres({ folder: process.argv[2] ?? "" });
  process.stdout.write(`${JSON.stringify({ url, ms: Date.now() - started })}\n`);
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
}
