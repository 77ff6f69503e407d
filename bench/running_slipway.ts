import { embeddedPostgres } from "../tests/support/database/embedded_postgres.ts";
import { printed, startServer, stop } from "./process.ts";
import { tempFolder } from "./temp_folder.ts";

const TOKEN = "slp_bench_0123456789012345678901234567890123456789";

/** Starts a server on its own database and data folder. Disposal stops it and removes both. */
export async function runningSlipway(settings: Readonly<Record<string, string>> = {}) {
  await using opened = new AsyncDisposableStack();
  const { path: folder } = opened.use(await tempFolder());
  const { url } = opened.use(await embeddedPostgres({ folder }));
  const env = {
    PORT: "0",
    DATABASE_URL: url,
    SLIPWAY_DATA: folder,
    SLIPWAY_ADMIN_TOKEN: TOKEN,
    LOG_FORMAT: "json",
    ...settings,
  };
  const program = startServer(env);
  opened.defer(() => stop(program));
  const port = Number((await printed(program, /API +http:\/\/127\.0\.0\.1:(\d+)/))[1]);
  const held = opened.move();
  return {
    url,
    folder,
    port,
    token: TOKEN,
    /** Creates something through the API. */
    async create(path: string, body: object): Promise<{ readonly id: string; readonly organizationId: string }> {
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const request = { method: "POST", headers, body: JSON.stringify(body) };
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, request);
      if (answer.status !== 201) throw new Error(await answer.text());
      return ((await answer.json()) as { data: { id: string; organizationId: string } }).data;
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

export type RunningSlipway = Awaited<ReturnType<typeof runningSlipway>>;
