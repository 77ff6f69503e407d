import { httpLoad } from "./http_load.ts";
import { printed, start, stop } from "./process.ts";
import type { RunningSlipway } from "./running_slipway.ts";
import { median } from "./temp_folder.ts";

export const CONNECTIONS = 16;

/** A request to Slipway, and its counterpart on a baseline server. */
export interface Comparison {
  readonly ours: string;
  readonly bare: "/list" | "/get";
  readonly requests: number;
  readonly rounds: number;
}

/** Responses per second of Slipway and of a baseline server on the same database, alternately, and their ratio. */
export async function throughput(
  { port, token, url }: RunningSlipway,
  bareServer: { readonly script: string; readonly organizationId: string; readonly id: string },
  { ours, bare, requests, rounds }: Comparison,
): Promise<{ readonly ratio: number; readonly slipway: number; readonly bare: number }> {
  const other = start(bareServer.script, [url, bareServer.organizationId, bareServer.id]);
  try {
    const barePort = Number((await printed(other, /(\d+)\n/))[1]);
    const load = (at: number, path: string) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      return httpLoad({ port: at, request, connections: CONNECTIONS, requests });
    };
    const both = async () => ({ slipway: await load(port, ours), bare: await load(barePort, bare) });
    await both();
    const rates: Awaited<ReturnType<typeof both>>[] = [];
    for (let round = 0; round < rounds; round++) rates.push(await both());
    const per = (pick: (rate: (typeof rates)[number]) => number) => Math.round(median(rates.map(pick)));
    return {
      ratio: median(rates.map((rate) => rate.slipway / rate.bare)),
      slipway: per((rate) => rate.slipway),
      bare: per((rate) => rate.bare),
    };
  } finally {
    await stop(other);
  }
}
