/** A request matcher: all of its members have to match. */
export type CaddyMatch = Readonly<Record<string, unknown>>;

/** A step in the handling of a request. */
export type CaddyHandler = Readonly<Record<string, unknown>> & { readonly handler: string };

/** A list of handlers for the requests that one of the matchers accepts. */
export interface CaddyRoute {
  /** Only the first matching route of a group is taken. */
  readonly group?: string;
  readonly match?: readonly CaddyMatch[];
  readonly handle: readonly CaddyHandler[];
}

/** A server of Caddy's HTTP app. */
export interface CaddyServer {
  readonly "@id"?: string;
  readonly listen?: readonly string[];
  readonly routes?: readonly CaddyRoute[];
  readonly [member: string]: unknown;
}

/** A certificate in Caddy's configuration, in PEM format. */
export interface CaddyCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly tags?: readonly string[];
}

interface CertificateSources {
  readonly load_pem?: readonly CaddyCertificate[];
  readonly [member: string]: unknown;
}

/** The parts of a configuration of Caddy that matter here. Everything else in it is the operator's. */
export interface CaddyConfig {
  readonly apps?: {
    readonly http?: { readonly servers?: Readonly<Record<string, CaddyServer>>; readonly [member: string]: unknown };
    readonly tls?: { readonly certificates?: CertificateSources; readonly [member: string]: unknown };
    readonly [app: string]: unknown;
  };
  readonly [member: string]: unknown;
}

/** What this server has in Caddy's configuration. */
export interface CaddyParts {
  readonly servers: Readonly<Record<string, CaddyServer>>;
  readonly certificates: readonly CaddyCertificate[];
}

/** Names of servers, and tags of certificates, that begin with this are this server's. */
export const OWN = "slipway";

/** Returns the parts of a configuration that are this server's. */
export function partsIn({ apps }: CaddyConfig): CaddyParts {
  const servers = Object.entries(apps?.http?.servers ?? {}).filter(([name]) => isOwn(name));
  const certificates = (apps?.tls?.certificates?.load_pem ?? []).filter(({ tags = [] }) => tags.some(isOwn));
  return { servers: Object.fromEntries(servers), certificates };
}

/** Returns a configuration with other parts of this server. Everything else in it stays as it is. */
export function withParts(config: CaddyConfig, { servers, certificates }: CaddyParts): CaddyConfig {
  const { http = {}, tls = {} } = config.apps ?? {};
  const others = Object.entries(http.servers ?? {}).filter(([name]) => !isOwn(name));
  const theirs = (tls.certificates?.load_pem ?? []).filter(({ tags = [] }) => !tags.some(isOwn));
  return {
    ...config,
    apps: {
      ...config.apps,
      http: { ...http, servers: { ...Object.fromEntries(others), ...servers } },
      tls: { ...tls, certificates: { ...tls.certificates, load_pem: [...theirs, ...certificates] } },
    },
  };
}

/** Returns the name of a server of the operator that listens on one of the ports; Caddy would share it between both. */
export function otherServerOn(config: CaddyConfig, ports: readonly number[]): string | undefined {
  const others = Object.entries(config.apps?.http?.servers ?? {}).filter(([name]) => !isOwn(name));
  return others.find(([, { listen = [] }]) =>
    listen.some((address) => ports.some((port) => covers(address, port))),
  )?.[0];
}

/** Returns whether an address such as `tcp/:8000-8010` includes a port. */
function covers(address: string, port: number): boolean {
  const [, first, last = first] = /:(\d+)(?:-(\d+))?$/.exec(address) ?? [];
  return first !== undefined && port >= Number(first) && port <= Number(last);
}

function isOwn(name: string): boolean {
  return name === OWN || name.startsWith(`${OWN}_`) || name.startsWith(`${OWN}:`);
}
