import { embeddedPostgres } from "./embedded_postgres.ts";

// A separate process that owns an embedded PostgreSQL. It prints its URL, or the error, then runs until killed.
const started = Date.now();
try {
  const { url } = await embeddedPostgres({ folder: process.argv[2] ?? "" });
  process.stdout.write(`${JSON.stringify({ url, ms: Date.now() - started })}\n`);
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
}
