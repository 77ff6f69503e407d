import postgres from "postgres";
import { pushPayload, signedHeaders } from "../tests/support/inputs/webhook_payloads.ts";
import { httpLoad } from "./http_load.ts";
import { printed, start, stop } from "./process.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";
import { type RunningSlipway, runningSlipway } from "./running_slipway.ts";

const SECRET = "a-secret-of-the-benchmark";
const INSTALLATION = 1;
const CONNECTIONS = 32;
const ROUNDS = 7;
const LOAD_MS = 300;

/**
 * Deliveries of pushes per second (verified, stored once, decided about for a linked project), compared with a server that
 * checks the signature and inserts a row.
 */
export async function webhook(): Promise<Result> {
  await using opened = new AsyncDisposableStack();
  const slipway = opened.use(await runningSlipway({ GITHOST_WEBHOOK_SECRET: SECRET }));
  await slipway.create("/api/projects", { name: "Shop", gitOwner: "acme", gitRepo: "shop" });
  await connectApp(slipway);
  const bare = start("bench/bare_webhook.ts", [slipway.url, SECRET]);
  opened.defer(() => stop(bare));
  const barePort = Number((await printed(bare, /(\d+)\n/))[1]);
  const { ratio, spread, ours, other } = await inRounds(ROUNDS, {
    ours: () => load(slipway.port, "/api/githost/webhook"),
    other: () => load(barePort, "/"),
  });
  const rates = `slipway ${Math.round(ours)}/s, bare ${Math.round(other)}/s, ${CONNECTIONS} connections`;
  return { ratio, details: `${rates}; ${spread}; at least 0.5` };
}

/** Connects the installation that reports the pushes. */
async function connectApp({ url }: RunningSlipway): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql`
    insert into githost_installations (id, organization_id, account_login, account_id, account_type, suspended,
      connected_by, connected_at)
    select ${INSTALLATION}, id, 'acme', 1, 'Organization', false, 'x', now() from organizations`;
  await sql.end();
}

function load(port: number, path: string): Promise<number> {
  const body = JSON.stringify(pushPayload("acme/shop", { ref: "refs/heads/other", installationId: INSTALLATION }));
  const { "x-github-delivery": _, ...headers } = signedHeaders("push", body, SECRET);
  const fixed = Object.entries({ ...headers, "content-length": String(Buffer.byteLength(body)) });
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...fixed.map(([name, value]) => `${name}: ${value}`),
  ];
  const request = () => `${head.join("\r\n")}\r\nx-github-delivery: ${crypto.randomUUID()}\r\n\r\n${body}`;
  return httpLoad({ port, request, connections: CONNECTIONS, ms: LOAD_MS });
}
