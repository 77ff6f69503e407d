import { httpLoad } from "./http_load.ts";
import { type Program, printed, start, stop } from "./process.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";

const CONNECTIONS = 64;
const LOAD_MS = 200;
const ROUNDS = 7;
/** Of the comparisons beside the main one. */
const OTHER_ROUNDS = 5;

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
    const many = await compare(ports, "/page", CONNECTIONS * 10, OTHER_ROUNDS);
    const bare = await compare(ports, "/hello", CONNECTIONS, OTHER_ROUNDS);
    return {
      ratio: few.ratio,
      details:
        `edge ${few.edge}/s, app ${few.app}/s, ${CONNECTIONS} connections, ${few.spread}, at least 0.65; ` +
        `${CONNECTIONS * 10} connections: ${many.ratio.toFixed(2)}, edge ${many.edge}/s, app ${many.app}/s; ` +
        `five bytes: ${bare.ratio.toFixed(2)}, at least 0.5, edge ${bare.edge}/s, app ${bare.app}/s`,
    };
  } finally {
    await stop(proxy);
    await stop(app);
  }
}

async function compare(ports: Ports, path: string, connections: number, rounds = ROUNDS) {
  const request = `GET ${path} HTTP/1.1\r\nHost: app.localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`;
  const load = (port: number) => httpLoad({ port, request, connections, ms: LOAD_MS });
  const sides = { ours: () => load(ports.edge), other: () => load(ports.app) };
  const { ratio, ours, other, spread } = await inRounds(rounds, sides);
  return { ratio, edge: Math.round(ours), app: Math.round(other), spread };
}

async function portOf(program: Program): Promise<number> {
  return Number((await printed(program, /(\d+)\n/))[1]);
}
