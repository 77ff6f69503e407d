import { createHash } from "node:crypto";
import { RouteTable } from "../../../domain/deployments/route_table.ts";
import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import type { SelfSigned } from "../../shared/self_signed.ts";
import { EDGE_LIMITS } from "../edge_limits.ts";
import { redirectResponse } from "../own_response.ts";
import type { SentCertificate } from "../separate/edge_thread.ts";
import { type CaddyHandler, type CaddyParts, type CaddyRoute, type CaddyServer, OWN } from "./caddy_config.ts";
import { errorRoutes, ownHandler, pageRoutes } from "./caddy_pages.ts";
import { ENCRYPTED, hostRoute, inGroups, type ProxySettings, retiredRoute } from "./caddy_routes.ts";

/** Where and how Caddy serves. */
export interface CaddySettings extends ProxySettings {
  readonly host: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly httpsRedirect: boolean;
  readonly hstsSeconds: number;
}

/** What Caddy serves. */
export interface CaddyContent {
  /** The routes of each owner, the one that was set last at the end. */
  readonly owners: ReadonlyMap<string, readonly EdgeRoute[]>;
  readonly certificates: ReadonlyMap<string, SentCertificate>;
  /** The certificate for hosts that have none. */
  readonly fallback: SelfSigned;
  /** Addresses that no route leads to any more, but which may still have running requests. */
  readonly retired: readonly string[];
}

/** What a server notes in Caddy's configuration for the next one: the addresses of apps, and its own. */
export interface CaddyNotes {
  readonly routes: readonly EdgeRoute[];
  readonly filesAt: string;
}

/** The names of the two servers. */
export const PLAIN = OWN;
export const TLS = `${OWN}_tls`;
const FALLBACK = `${OWN}:`;
const NOTES = "slipway_notes";
const NS_PER_MS = 1_000_000;
const HTTPS_PORT = 443;

/** Variables of a request: what goes before and into its `Forwarded` header. */
const BEFORE = "slipway_before";
const NODE = "slipway_node";
const FORWARDED = `{http.vars.${BEFORE}}for={http.vars.${NODE}};host="{http.request.hostport}";proto={http.request.scheme}`;

/** Claims about the client that only a trusted proxy may make. */
const CLAIMS = ["Forwarded", "X-Forwarded*", "X-Real-Ip"];
/** No proxy writes `_`, which apps read as `-`. Such headers, and one that programs take as a setting, are from clients. */
const NEVER = ["X_Forwarded*", "X-Forwarded_*", "X_Real-Ip", "X-Real_Ip", "X_Real_Ip", "Proxy"];

/** Returns what Caddy has to have in its configuration. Its plain server has an id that changes with the content. */
export function caddyParts(content: CaddyContent, settings: CaddySettings): CaddyParts {
  const table = new RouteTable<EdgeRoute>();
  for (const [owner, routes] of content.owners) table.replace(owner, routes);
  const plain = { ...serverBase(settings, settings.port), protocols: ["h1"], routes: routesOver("http") };
  const tls = { ...serverBase(settings, settings.tlsPort), ...tlsMembers(content), routes: routesOver("https") };
  const certificates = [
    { certificate: content.fallback.cert, key: content.fallback.key, tags: [FALLBACK] },
    ...[...content.certificates].map(([host, { chain, key }]) => ({ certificate: chain, key, tags: [tagOf(host)] })),
  ];
  const digest = createHash("sha256")
    .update(JSON.stringify([plain, tls, certificates]))
    .digest("hex");
  const routes = table.all().filter(({ target }) => target.kind === "address");
  const notes: CaddyNotes = { routes, filesAt: settings.filesAt };
  const retired = retiredRoute(content.retired, { [NOTES]: JSON.stringify(notes) });
  const marked = { "@id": `${OWN}_${digest.slice(0, 32)}`, ...plain, routes: [retired, ...plain.routes] };
  return { servers: { [PLAIN]: marked, [TLS]: tls }, certificates };

  function routesOver(scheme: "http" | "https"): readonly CaddyRoute[] {
    const hosts = new Map(table.hosts());
    const isRedirected = (host: string) =>
      scheme === "http" && settings.httpsRedirect && content.certificates.has(host);
    const names = new Set([...hosts.keys(), ...[...content.certificates.keys()].filter(isRedirected)]);
    const served = [...names].map((host) =>
      hostRoute(host, hosts.get(host) ?? [], {
        proxy: settings,
        redirect: isRedirected(host) ? redirectRoute(host, settings) : undefined,
      }),
    );
    return [...preparation(settings, scheme), ...inGroups(served), ...pageRoutes()];
  }
}

/** Returns what an earlier server has noted, the certificates that it had, and the one for all other hosts. */
export function caddyContent({ servers, certificates }: CaddyParts) {
  const notes = notesIn(servers[PLAIN]?.routes?.[0]?.handle[0]?.[NOTES]);
  const own = certificates.flatMap(({ certificate, key, tags = [] }): SentCertificate[] => {
    const tag = tags.find((name) => name.startsWith(FALLBACK));
    return tag === undefined || tag === FALLBACK
      ? []
      : [{ hostname: tag.slice(FALLBACK.length), chain: certificate, key }];
  });
  const found = certificates.find(({ tags = [] }) => tags.includes(FALLBACK));
  return { notes, certificates: own, fallback: found && { cert: found.certificate, key: found.key } };
}

/** Reads notes, if they are complete. */
function notesIn(text: unknown): CaddyNotes | undefined {
  try {
    const notes = JSON.parse(String(text)) as Partial<CaddyNotes> | null;
    return Array.isArray(notes?.routes) && typeof notes.filesAt === "string" ? (notes as CaddyNotes) : undefined;
  } catch {
    return undefined;
  }
}

function tagOf(host: string): string {
  return `${FALLBACK}${host}`;
}

function serverBase({ host }: CaddySettings, port: number): CaddyServer {
  return {
    listen: [`${host.includes(":") ? `[${host}]` : host}:${port}`],
    automatic_https: { disable: true },
    read_header_timeout: EDGE_LIMITS.headMs * NS_PER_MS,
    idle_timeout: EDGE_LIMITS.idleMs * NS_PER_MS,
    errors: { routes: errorRoutes() },
  };
}

/** Presents the certificate of each host to those who ask for it, whatever names are in it. */
function tlsMembers({ certificates }: CaddyContent) {
  const policies = [...certificates.keys()].map((host) => ({ match: { sni: [host] }, ...selected(tagOf(host)) }));
  return { protocols: ["h1", "h2", "h3"], tls_connection_policies: [...policies, selected(FALLBACK)] };
}

function selected(tag: string) {
  return { certificate_selection: { any_tag: [tag] } };
}

/** Routes that every request takes first: they drop claims that clients must not make, and make the own ones. */
function preparation({ trustedProxies, hstsSeconds }: CaddySettings, scheme: "http" | "https"): readonly CaddyRoute[] {
  const clean = { handler: "headers", request: { delete: NEVER }, response: { delete: ["Server"] } };
  const isTrusted = { remote_ip: { ranges: trustedProxies } };
  const drop = { ...(trustedProxies.length > 0 && { match: [{ not: [isTrusted] }] }), handle: [dropped(CLAIMS)] };
  const says = (name: string, pattern: string) => ({ ...isTrusted, header_regexp: { [name]: { pattern } } });
  const ofProxies: readonly CaddyRoute[] = [
    { match: [says("Forwarded", ".")], handle: [variable(BEFORE, "{http.request.header.Forwarded}, ")] },
    {
      match: [says("X-Forwarded-Proto", "(?i)^https\\s*(?:,|$)"), says("Forwarded", '(?i)^[^,]*\\bproto="?https\\b')],
      handle: [variable(ENCRYPTED, "yes")],
    },
  ];
  // A proxy that sends only X-Forwarded-For: Forwarded would name that proxy as the client.
  const isKnown = [{ header: { "X-Forwarded-For": null } }, { header_regexp: { Forwarded: { pattern: "." } } }];
  return [
    { handle: [clean, variable(NODE, "{http.request.remote.host}")] },
    { match: [{ remote_ip: { ranges: ["::/0"] } }], handle: [variable(NODE, '"[{http.request.remote.host}]"')] },
    drop,
    ...(trustedProxies.length > 0 ? ofProxies : []),
    { match: isKnown, handle: [{ handler: "headers", request: { set: { Forwarded: [FORWARDED] } } }] },
    ...(scheme === "https" && hstsSeconds > 0 ? [{ handle: [hstsHandler(hstsSeconds)] }] : []),
  ];
}

function dropped(names: readonly string[]): CaddyHandler {
  return { handler: "headers", request: { delete: names } };
}

function variable(name: string, value: string): CaddyHandler {
  return { handler: "vars", [name]: value };
}

function hstsHandler(seconds: number): CaddyHandler {
  const name = "Strict-Transport-Security";
  return {
    handler: "headers",
    response: { deferred: true, require: { headers: { [name]: null } }, set: { [name]: [`max-age=${seconds}`] } },
  };
}

/** Redirects plain requests of a host to HTTPS, except those that a trusted proxy got over HTTPS. */
function redirectRoute(host: string, { tlsPort, trustedProxies }: CaddySettings): CaddyRoute {
  const location = `https://${host}${tlsPort === HTTPS_PORT ? "" : `:${tlsPort}`}{http.request.uri}`;
  const handle = [ownHandler(redirectResponse(location))];
  if (trustedProxies.length === 0) return { handle };
  return { match: [{ not: [{ vars: { [ENCRYPTED]: ["yes"] } }] }], handle };
}
