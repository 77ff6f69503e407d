import postgres from "postgres";

/** What a baseline server does with a table: the same SQL and the same JSON as Slipway, nothing else. */
export interface BareWork {
  readonly table: string;
  readonly columns: string;
  /** Converts rows to their JSON representation. */
  readonly views: (rows: readonly postgres.Row[], sql: postgres.Sql) => unknown[] | Promise<unknown[]>;
  /** Further fields of a list response, besides its page. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

/**
 * Serves a page of 50 at `/list` and one row at every other path, and prints its port. The benchmark passes database
 * URL, organization and row id as arguments.
 */
export function serveBare({ table, columns, views, beside = {} }: BareWork): void {
  const [url = "", organizationId = "", id = ""] = process.argv.slice(2);
  const sql = postgres(url, {
    max: 10,
    fetch_types: false,
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
  const list = `select counted.total, listed.*
    from (select count(*) as total from ${table} where organization_id = $1) as counted
    left join (select true as listed, ${columns} from ${table} where organization_id = $1 order by created_at desc, id desc limit $2 offset $3) as listed on true
    order by created_at desc, id desc`;
  const get = `select ${columns} from ${table} where id = $1 and organization_id = $2`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.url.includes("/list")) {
        const rows = await sql.unsafe(list, [organizationId, 50, 0], { prepare: true });
        const data = await views(rows, sql);
        return Response.json({ ...beside, data, total: rows[0]!.total, page: 1, perPage: 50 });
      }
      const [data] = await views(await sql.unsafe(get, [id, organizationId], { prepare: true }), sql);
      return Response.json({ data });
    },
  });
  process.stdout.write(`${server.port}\n`);
}
