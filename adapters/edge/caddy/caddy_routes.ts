import { createHash } from "node:crypto";
import type { HostEntry } from "../../../domain/deployments/route_table.ts";
import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import { EDGE_LIMITS } from "../edge_limits.ts";
import { NO_RELEASE, STARTING, WRONG_METHOD } from "../error_page.ts";
import { textResponse } from "../own_response.ts";
import type { CaddyHandler, CaddyMatch, CaddyRoute } from "./caddy_config.ts";
import { markFiles, ownHandler, showPage } from "./caddy_pages.ts";

/** How requests are proxied. */
export interface ProxySettings {
  readonly trustedProxies: readonly string[];
  /** The address, with port, at which this server serves static sites. */
  readonly filesAt: string;
  /** Whether this Caddy can keep WebSockets open when its configuration changes (2.7 and later). */
  readonly keepsStreams: boolean;
}

/** The variable of a plain request that a trusted proxy got over HTTPS. */
export const ENCRYPTED = "slipway_encrypted";

const NS_PER_MS = 1_000_000;
/** How many hosts are in a group; each has two names, with and without a dot at the end. */
const GROUP = 32;
const CONNECT_MS = 5_000;
/** Without it, parts of a stream would wait for the next ones. -1, at once, would break running requests at a change. */
const FLUSH_MS = 5;
/** For how long WebSockets stay open after a change. */
const STREAM_MS = 24 * 3_600_000;

/** A route for requests of some hosts. */
export interface HostRoute extends CaddyRoute {
  readonly match: readonly [{ readonly host: readonly string[] }];
}

/**
 * Puts the routes of many hosts into groups, because Caddy tries one after the other. It compares without regard to case
 * only in lists of up to 100 names.
 */
export function inGroups(routes: readonly HostRoute[]): readonly CaddyRoute[] {
  if (routes.length <= GROUP) return routes;
  return Array.from({ length: Math.ceil(routes.length / GROUP) }, (_, at) => {
    const own = routes.slice(at * GROUP, (at + 1) * GROUP);
    const host = own.flatMap(({ match: [names] }) => names.host);
    return { match: [{ host }], handle: [{ handler: "subroute", routes: own }] };
  });
}

/** Returns the route of a host whose entries are sorted by length, the longest prefix first. */
export function hostRoute(
  host: string,
  entries: readonly HostEntry<EdgeRoute>[],
  { proxy, redirect }: { readonly proxy: ProxySettings; readonly redirect: CaddyRoute | undefined },
): HostRoute {
  const routes = entries.flatMap(({ prefix, route }): readonly CaddyRoute[] => {
    const own = under(prefix, { handle: handlersFor(route, proxy) });
    // Certificate authorities ask for texts over plain HTTP.
    return redirect && route.target.kind !== "text" ? [under(prefix, redirect), own] : [own];
  });
  const all = redirect ? [...routes, under("", redirect)] : routes;
  const [only] = all;
  const match = [{ host: [host, `${host}.`] }] as const;
  if (all.length === 1 && only && !only.match) return { match, handle: only.handle };
  return { match, handle: [{ handler: "subroute", routes: all }] };
}

/** The host name under which this server's own edge serves a static site to Caddy. */
export function siteName({ servedBy, target }: EdgeRoute): string {
  const name = target.kind === "folder" ? `${servedBy} ${target.path}` : servedBy;
  return `${createHash("sha256").update(name).digest("hex").slice(0, 32)}.site`;
}

/** The address of an app as Caddy dials it. */
export function dialOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A route that is never taken, so that Caddy keeps counting the requests to these addresses that are still running. */
export function retiredRoute(dials: readonly string[], notes: Readonly<Record<string, string>>): CaddyRoute {
  const handle = dials.map((dial) => ({ handler: "reverse_proxy", upstreams: [{ dial }] }));
  return { match: [{ vars: { slipway_never: ["yes"] } }], handle: [{ handler: "vars", ...notes }, ...handle] };
}

/** Restricts a route to the paths under a prefix, which ends at a segment boundary. */
function under(prefix: string, route: CaddyRoute): CaddyRoute {
  const path: CaddyMatch =
    prefix === "" ? {} : { vars_regexp: { "{http.request.uri}": { pattern: `^${quoted(prefix)}(?:[/?]|$)` } } };
  const matches = (route.match ?? [{}]).map((match) => ({ ...path, ...match }));
  const isEmpty = matches.every((match) => Object.keys(match).length === 0);
  return { group: "slipway", ...(!isEmpty && { match: matches }), handle: route.handle };
}

function handlersFor(route: EdgeRoute, proxy: ProxySettings): readonly CaddyHandler[] {
  const { target } = route;
  switch (target.kind) {
    case "address":
      return [proxyTo(dialOf(target), proxy)];
    case "folder":
      return [markFiles(), proxyTo(proxy.filesAt, proxy, siteName(route))];
    case "text": {
      const read = { match: [{ method: ["GET", "HEAD"] }], handle: [ownHandler(textResponse(target.text))] };
      return [{ handler: "subroute", routes: [read, { handle: [showPage(WRONG_METHOD)] }] }];
    }
    case "none":
      return [showPage(NO_RELEASE)];
    case "starting":
      return [showPage(STARTING)];
  }
}

function proxyTo(dial: string, { trustedProxies, keepsStreams }: ProxySettings, host?: string): CaddyHandler {
  return {
    handler: "reverse_proxy",
    upstreams: [{ dial }],
    flush_interval: FLUSH_MS * NS_PER_MS,
    ...(keepsStreams && { stream_close_delay: STREAM_MS * NS_PER_MS }),
    ...(trustedProxies.length > 0 && { trusted_proxies: trustedProxies }),
    ...(host !== undefined && { headers: { request: { set: { Host: [host] } } } }),
    transport: {
      protocol: "http",
      // The app compresses, or nobody does.
      compression: false,
      dial_timeout: CONNECT_MS * NS_PER_MS,
      response_header_timeout: EDGE_LIMITS.answerMs * NS_PER_MS,
    },
  };
}

/** Quotes a text for a regular expression (RE2) in which Caddy replaces nothing. */
function quoted(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
}
