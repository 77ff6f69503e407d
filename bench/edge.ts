import { httpLoad } from "./http_load.ts";
import { type Program, printed, start, stop } from "./process.ts";
import type { Result } from "./run.ts";
import { median } from "./temp_folder.ts";

const CONNECTIONS = 64;
const LOAD_MS = 500;
const ROUNDS = 7;

interface Ports {
  readonly edge: number;
  readonly app: number;
}

/**
 * Throughput of an app's page through the edge, compared with direct requests to the app, alternately; also with ten
 * times the connections, and for a response that costs the app nothing.
 */
export async function edge(): Promise<Result> {
  const app = start("bench/edge_app.ts", []);
  const appPort = await portOf(app);
  const proxy = start("bench/edge_program.ts", [String(appPort)]);
  try {
    const ports = { edge: await portOf(proxy), app: appPort };
    const few = await compare(ports, "/page", CONNECTIONS);
    const many = await compare(ports, "/page", CONNECTIONS * 10);
    const bare = await compare(ports, "/hello", CONNECTIONS);
    return {
      ratio: few.ratio,
      details:
        `edge ${few.edge}/s, app ${few.app}/s, ${CONNECTIONS} connections, at least 0.65; ` +
        `${CONNECTIONS * 10} connections: ${many.ratio.toFixed(2)}, edge ${many.edge}/s, app ${many.app}/s; ` +
        `five bytes: ${bare.ratio.toFixed(2)}, at least 0.5, edge ${bare.edge}/s, app ${bare.app}/s`,
    };
  } finally {
    await stop(proxy);
    await stop(app);
  }
}

async function compare(ports: Ports, path: string, connections: number) {
  const request = `GET ${path} HTTP/1.1\r\nHost: app.localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`;
  const load = (port: number) => httpLoad({ port, request, connections, ms: LOAD_MS });
  await load(ports.edge);
  await load(ports.app);
  const rates: { edge: number; app: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) rates.push({ edge: await load(ports.edge), app: await load(ports.app) });
  return {
    ratio: median(rates.map((rate) => rate.edge / rate.app)),
    edge: Math.round(median(rates.map((rate) => rate.edge))),
    app: Math.round(median(rates.map((rate) => rate.app))),
  };
}

async function portOf(program: Program): Promise<number> {
  return Number((await printed(program, /(\d+)\n/))[1]);
}
