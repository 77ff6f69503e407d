import postgres from "postgres";

/** Sends one statement to a database, bypassing the stores, and resolves to its rows. */
export async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Dumps all rows of a database as text. */
export async function dump(url: string): Promise<string> {
  const tables = await query(url, "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'");
  const contents: unknown[] = [];
  for (const { name } of tables) {
    const rows = await query(url, `select t::text as row from ${name} as t`);
    contents.push(name, ...rows.map(({ row }) => row));
  }
  return contents.join("\n");
}
