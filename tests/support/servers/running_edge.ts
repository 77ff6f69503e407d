import { EdgeServer, type EdgeOptions } from "../../../adapters/edge/edge_server.ts";
import type { EdgeRoute } from "../../../ports/domains/edge.ts";

/** A listening edge, and a shorthand for requests to it. */
export interface RunningEdge extends AsyncDisposable {
  readonly edge: EdgeServer;
  readonly port: number;
  /** Routes all paths of a host to one deployment of the project `prj_<host>`. */
  put(host: string, target: EdgeRoute["target"], servedBy?: string): Promise<void>;
  /** Requests a path of a host from the edge, without following redirects. */
  ask(host: string, path?: string, init?: RequestInit): Promise<Response>;
}

/** Starts an edge on a free local port. */
export function runningEdge(options: EdgeOptions = {}): RunningEdge {
  const edge = new EdgeServer(options);
  // Without a TLS port it listens at once.
  void edge.listen({ host: "127.0.0.1", port: 0 });
  edge.load([]);
  return withShorthands(edge);
}

/** Starts an edge on free local ports, one of them for TLS. */
export async function runningTlsEdge(options: EdgeOptions = {}): Promise<RunningEdge> {
  const edge = new EdgeServer(options);
  await edge.listen({ host: "127.0.0.1", port: 0, tlsPort: 0 });
  edge.load([]);
  return withShorthands(edge);
}

function withShorthands(edge: EdgeServer): RunningEdge {
  return {
    edge,
    port: edge.port,
    put: (host, target, servedBy = `dep_${host}`) =>
      edge.switch(`prj_${host}`, [{ hostname: host, pathPrefix: "/", projectId: `prj_${host}`, servedBy, target }]),
    ask: askerOf(edge),
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
  };
}

/** Returns a function that sends requests to an edge as a visitor of a host. */
export function askerOf(edge: { readonly port: number }): RunningEdge["ask"] {
  return (host, path = "/", init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("host", host);
    return fetch(`http://127.0.0.1:${edge.port}${path}`, { redirect: "manual", ...init, headers });
  };
}

/** The route target of an app on a local port. */
export function at(port: number | undefined): EdgeRoute["target"] {
  return { kind: "address", host: "127.0.0.1", port: port ?? 0 };
}
