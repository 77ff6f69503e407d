import { EdgeServer, type EdgeOptions } from "../../../adapters/edge/edge_server.ts";
import type { EdgeRoute } from "../../../ports/domains/edge.ts";

/** A listening edge, and a short way to ask it. */
export interface RunningEdge extends AsyncDisposable {
  readonly edge: EdgeServer;
  readonly port: number;
  /** Puts one deployment of the project `prj_<host>` at a host, at every path. */
  put(host: string, target: EdgeRoute["target"], servedBy?: string): Promise<void>;
  /** Asks the edge for a path of a host; redirects are not followed. */
  ask(host: string, path?: string, init?: RequestInit): Promise<Response>;
}

/** Starts an edge on a free port of this machine. */
export function runningEdge(options: EdgeOptions = {}): RunningEdge {
  const edge = new EdgeServer(options);
  edge.listen({ host: "127.0.0.1", port: 0 });
  edge.load([]);
  return {
    edge,
    port: edge.port,
    put: (host, target, servedBy = `dep_${host}`) =>
      edge.switch(`prj_${host}`, [{ hostname: host, pathPrefix: "/", projectId: `prj_${host}`, servedBy, target }]),
    ask: askerOf(edge),
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
  };
}

/** Asks an edge as a visitor of a host does. */
export function askerOf(edge: { readonly port: number }): RunningEdge["ask"] {
  return (host, path = "/", init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("host", host);
    return fetch(`http://127.0.0.1:${edge.port}${path}`, { redirect: "manual", ...init, headers });
  };
}

/** The target of an app on a port of this machine. */
export function at(port: number | undefined): EdgeRoute["target"] {
  return { kind: "address", host: "127.0.0.1", port: port ?? 0 };
}
