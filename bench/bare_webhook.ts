import { timingSafeEqual } from "node:crypto";
import postgres from "postgres";

/**
 * The least that a receiver of webhooks does: checks the signature of the body and stores the delivery in one statement.
 * Takes the database URL and the secret as arguments, and prints its port.
 */
const [url = "", secret = ""] = process.argv.slice(2);
const sql = postgres(url, { max: 10, fetch_types: false, onnotice: () => {} });
await sql`create table bare_deliveries (id text primary key, body text not null, received_at timestamptz not null)`;
const INSERT = "insert into bare_deliveries values ($1, $2, now()) on conflict do nothing";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const body = await request.text();
    const made = `sha256=${new Bun.CryptoHasher("sha256", secret).update(body).digest("hex")}`;
    const given = request.headers.get("x-hub-signature-256") ?? "";
    const isSigned = made.length === given.length && timingSafeEqual(Buffer.from(made), Buffer.from(given));
    if (!isSigned) return new Response(null, { status: 401 });
    await sql.unsafe(INSERT, [request.headers.get("x-github-delivery") ?? "", body], { prepare: true });
    return Response.json({ success: true });
  },
});
process.stdout.write(`${server.port}\n`);
