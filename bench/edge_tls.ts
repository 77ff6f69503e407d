import { connect, type TLSSocket } from "node:tls";
import { httpLoad } from "./http_load.ts";
import { type Program, printed, start, stop } from "./process.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";

const CONNECTIONS = 64;
const LOAD_MS = 200;
const ROUNDS = 7;
const OPEN = 500;
const REQUEST = "GET /hello HTTP/1.1\r\nHost: app.localhost\r\n\r\n";
const HOST = "app.localhost";

interface Ports {
  readonly plain: number;
  readonly tls: number;
}

/**
 * Throughput of an app's page over TLS, compared with plain HTTP through the same edge, alternately, on connections that
 * are open before; the same through Caddy, where it is installed; and a renewal of the certificate while 500 connections
 * are open, none of which may be dropped.
 */
export async function edgeTls(): Promise<Result> {
  const app = start("bench/edge_app.ts", []);
  const [, appPort = ""] = await printed(app, /(\d+)\n/);
  const proxy = start("bench/edge_tls_program.ts", [appPort]);
  try {
    const [, plain, tls] = await printed(proxy, /(\d+) (\d+)\n/);
    const ports = { plain: Number(plain), tls: Number(tls) };
    const page = await compare(ports, "/page");
    const bare = await compare(ports, "/hello");
    const caddy = Bun.which("caddy") ? await throughCaddy(appPort, ports.plain) : "not installed";
    const dropped = await droppedByRenewal(proxy, ports.tls);
    if (dropped > 0) throw new Error(`a renewal dropped ${dropped} of ${OPEN} connections`);
    return {
      ratio: page.ratio,
      details:
        `TLS ${Math.round(page.ours)}/s, plain ${Math.round(page.other)}/s, ${CONNECTIONS} connections, ${page.spread}; ` +
        `five bytes: ${bare.ratio.toFixed(2)}, TLS ${Math.round(bare.ours)}/s, plain ${Math.round(bare.other)}/s; ` +
        `renewal with ${OPEN} open connections: ${dropped} dropped; page by Caddy over TLS: ${caddy}`,
    };
  } finally {
    await stop(proxy);
    await stop(app);
  }
}

/** Throughput of the page through Caddy over TLS, compared with plain HTTP through the own edge. */
async function throughCaddy(appPort: string, plain: number): Promise<string> {
  const program = start("bench/edge_caddy_program.ts", [appPort]);
  try {
    const [, , tls] = await printed(program, /(\d+) (\d+)\n/);
    const { ratio, ours } = await compare({ plain, tls: Number(tls) }, "/page");
    return `${ratio.toFixed(2)}, ${Math.round(ours)}/s`;
  } finally {
    await stop(program);
  }
}

function compare({ plain, tls }: Ports, path: string) {
  const request = `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`;
  const load = { request, connections: CONNECTIONS, ms: LOAD_MS };
  return inRounds(ROUNDS, {
    ours: () => httpLoad({ ...load, port: tls, serverName: HOST }),
    other: () => httpLoad({ ...load, port: plain }),
  });
}

/** How many open connections do not answer a request after the certificate was replaced, or got the former one. */
async function droppedByRenewal(proxy: Program, port: number): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: OPEN }, () => opened(port)));
  const before = sockets[0]!.getPeerCertificate().fingerprint256;
  proxy.kill("SIGUSR2");
  await printed(proxy, /renewed\n/);
  const answered = await Promise.all(sockets.map(answers));
  const next = await opened(port);
  if (next.getPeerCertificate().fingerprint256 === before) throw new Error("the former certificate is presented");
  for (const socket of [next, ...sockets]) socket.destroy();
  return answered.filter((isAnswered) => !isAnswered).length;
}

async function opened(port: number): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const options = { port, host: "127.0.0.1", servername: HOST, rejectUnauthorized: false };
  const socket: TLSSocket = connect(options, () => resolve(socket));
  socket.on("error", reject);
  return promise;
}

function answers(socket: TLSSocket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("data", () => resolve(true));
    socket.once("close", () => resolve(false));
    socket.write(REQUEST);
  });
}
