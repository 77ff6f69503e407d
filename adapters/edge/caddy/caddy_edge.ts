import { setTimeout as delay } from "node:timers/promises";
import { bareHost } from "../../../domain/deployments/route_table.ts";
import { Failure } from "../../../domain/failure.ts";
import { loggedError } from "../../../domain/logged_error.ts";
import type { Edge, EdgeCertificate, EdgeRoute } from "../../../ports/domains/edge.ts";
import type { Log } from "../../../ports/system/log.ts";
import { selfSigned, type SelfSigned } from "../../shared/self_signed.ts";
import { type EdgeAddress, EdgeServer } from "../edge_server.ts";
import { keptWhereStarting } from "../kept_where_starting.ts";
import type { SentCertificate } from "../separate/edge_thread.ts";
import { assertUsable, usable } from "../tls/presented_certificates.ts";
import { NO_HOST } from "../tls/tls_listener.ts";
import { assertFree, portOfOtherServer } from "./assert_free.ts";
import { CaddyAdmin, isAway, isRefusal, refused } from "./caddy_admin.ts";
import { type CaddyConfig, type CaddyParts, otherServerOn, partsIn, withParts } from "./caddy_config.ts";
import { CaddyPushes } from "./caddy_pushes.ts";
import { caddyContent, caddyParts, type CaddySettings, PLAIN, TLS } from "./caddy_servers.ts";
import { CaddySites } from "./caddy_sites.ts";
import { CaddyTrouble, warnOfCaddy } from "./caddy_trouble.ts";
import { CaddyUpstreams } from "./caddy_upstreams.ts";

export interface CaddyEdgeOptions {
  /** The address of Caddy's admin API: `http://host:port` or `unix:/path`. */
  readonly admin: string;
  readonly trustedProxies?: readonly string[];
  /** Whether plain requests for hosts with a certificate are redirected to HTTPS. Defaults to `true`. */
  readonly httpsRedirect?: boolean;
  /** For how long browsers are told to use only HTTPS (HSTS), in seconds; 0, the default, for not at all. */
  readonly hstsSeconds?: number;
  readonly log?: Log;
  /** How long a change waits for a Caddy that is away, such as one that is being restarted. Defaults to 10 s. */
  readonly waitMs?: number;
}

/** What Caddy has to serve: routes by owner, the one set last at the end; certificates, `null` for one to remove. */
interface Wanted {
  readonly owners: ReadonlyMap<string, readonly EdgeRoute[]>;
  readonly certificates: ReadonlyMap<string, SentCertificate | null>;
}

const WAIT_MS = 10_000;
const WATCH_MS = 1_000;
/** A configuration that Caddy refuses is tried again less often. */
const REFUSED_MS = 30_000;
const DRAIN_LOOK_MS = 100;
const WRITES = 10;

/**
 * Serves apps through a Caddy that the operator runs: pushes routes and certificates to its admin API, and pushes them
 * again when Caddy has lost them. Static sites are served by this process, which Caddy proxies to.
 */
export class CaddyEdge implements Edge, AsyncDisposable {
  readonly #options: CaddyEdgeOptions;
  readonly #admin: CaddyAdmin;
  readonly #files: EdgeServer;
  readonly #pushes: CaddyPushes<Wanted>;
  readonly #upstreams = new CaddyUpstreams();
  readonly #sites = new CaddySites();
  readonly #trouble: CaddyTrouble;
  readonly #stopped = new AbortController();
  #settings: CaddySettings;
  #watching: Promise<void> = Promise.resolve();
  #loaded = false;
  /** Whether all certificates are known, so that others that Caddy has are no longer valid. */
  #knowsCertificates = false;
  /** What an earlier server has left in Caddy; `undefined` until Caddy was reached. */
  #left: ReturnType<typeof caddyContent> | undefined;
  #fallback: SelfSigned | undefined;
  /** The id of what Caddy serves. */
  #served: string | undefined;

  constructor(options: CaddyEdgeOptions) {
    this.#options = options;
    this.#admin = new CaddyAdmin(options.admin);
    this.#trouble = new CaddyTrouble(options.log);
    const { log, trustedProxies = [], httpsRedirect = true, hstsSeconds = 0, waitMs = WAIT_MS } = options;
    this.#files = new EdgeServer({ httpsRedirect: false, ...(log && { log }) });
    const serving = { host: "127.0.0.1", port: 0, tlsPort: 0, filesAt: "", keepsStreams: true };
    this.#settings = { ...serving, trustedProxies, httpsRedirect, hstsSeconds };
    this.#pushes = new CaddyPushes<Wanted>(
      { owners: new Map(), certificates: new Map() },
      { waitMs, push: (wanted) => this.#push(wanted), notServed: (error) => this.#trouble.note(error) },
    );
  }

  get port(): number {
    return this.#settings.port;
  }

  get tlsPort(): number {
    return this.#settings.tlsPort;
  }

  /** Looks for Caddy, which serves at this address from the first `load` on. If it is away, that is logged. */
  async listen({ host, port, tlsPort = 0 }: Omit<EdgeAddress, "shared">): Promise<void> {
    warnOfCaddy(this.#options.admin, this.#options.log);
    try {
      this.#left = caddyContent(partsIn((await this.#admin.read()).config));
    } catch (error) {
      this.#trouble.note(error);
    }
    await this.#serveFiles(this.#left?.notes?.filesAt);
    this.#settings = { ...this.#settings, host, port, tlsPort, filesAt: `127.0.0.1:${this.#files.port}` };
    this.#watching = this.#watch();
  }

  /**
   * Replaces all routes at the start, and all certificates if they are known. What Caddy does not take is logged, and is
   * pushed again later.
   */
  async load(routes: readonly EdgeRoute[], certificates?: readonly EdgeCertificate[]): Promise<void> {
    this.#loaded = true;
    const kept = keptWhereStarting(this.#left?.notes?.routes ?? [], routes);
    const owners = Map.groupBy(kept, ({ projectId }) => projectId);
    const known = certificates && usable(certificates, this.#options.log);
    this.#knowsCertificates ||= known !== undefined;
    const all = known && new Map(known.map((each) => [bareHost(each.hostname), sentAs(each)]));
    const loading = this.#pushes.change((wanted) => ({ owners, certificates: all ?? wanted.certificates }));
    const failure = await loading.then(() => undefined).catch((error: unknown) => error);
    // One certificate that only Caddy cannot read must not keep the rest from visitors.
    if (known && known.length > 0 && isRefusal(failure)) await this.#loadOneByOne(owners, known);
  }

  async switch(projectId: string, routes: readonly EdgeRoute[]): Promise<void> {
    const own = [...routes];
    await this.#pushes.change((wanted) => {
      const owners = new Map(wanted.owners);
      // The one that is set last wins.
      owners.delete(projectId);
      if (own.length > 0) owners.set(projectId, own);
      return { ...wanted, owners };
    });
  }

  async present(hostname: string, certificate: EdgeCertificate | null): Promise<void> {
    if (certificate) assertUsable(certificate);
    const name = bareHost(hostname);
    const sent = certificate && sentAs(certificate);
    await this.#pushes.change((wanted) => ({
      ...wanted,
      certificates: new Map(wanted.certificates).set(name, sent),
    }));
  }

  async drained(servedBy: string, limitMs: number): Promise<void> {
    await Promise.all([this.#files.drained(servedBy, limitMs), this.#proxied(servedBy, limitMs)]);
  }

  /** Stops serving static sites, after draining their requests. Caddy keeps serving the apps for the next server. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped.abort();
    await this.#watching;
    await this.#pushes.ended();
    await this.#files.stop(graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }

  async #loadOneByOne(owners: Wanted["owners"], certificates: readonly EdgeCertificate[]): Promise<void> {
    await this.#pushes.change(() => ({ owners, certificates: new Map() })).catch(() => {});
    for (const certificate of certificates) {
      const { hostname } = certificate;
      await this.present(hostname, certificate).catch((error: unknown) => {
        this.#options.log?.write("warn", "A certificate cannot be presented", { hostname, ...loggedError(error) });
      });
    }
  }

  /** Resolves once Caddy has no running request to an app, or after the limit. */
  async #proxied(servedBy: string, limitMs: number): Promise<void> {
    const until = performance.now() + limitMs;
    const leftMs = () => Math.max(0, until - performance.now());
    const { dials, settleMs } = this.#upstreams.of(servedBy);
    if (dials.size === 0) return;
    await delay(Math.min(settleMs, leftMs()));
    while (leftMs() > 0 && (await this.#isBusy(dials))) await delay(Math.min(DRAIN_LOOK_MS, leftMs()));
  }

  /** While Caddy does not answer, requests may be running. */
  async #isBusy(dials: ReadonlySet<string>): Promise<boolean> {
    try {
      const running = await this.#admin.runningRequests();
      return [...dials].some((dial) => (running.get(dial) ?? 0) > 0);
    } catch {
      return true;
    }
  }

  /** Puts this server's parts into Caddy's configuration, at once and only if nobody else has changed it meanwhile. */
  async #push(wanted: Wanted): Promise<void> {
    if (!this.#loaded) return;
    const routes = [...wanted.owners.values()].flat();
    for (let write = 0; write < WRITES; write++) {
      const { config, version } = await this.#admin.read();
      const found = partsIn(config);
      const parts = this.#parts(wanted, (this.#left ??= caddyContent(found)));
      const id = parts.servers[PLAIN]?.["@id"];
      const isServed = found.servers[PLAIN]?.["@id"] === id;
      if (!isServed) await this.#assertUsablePorts(config, parts);
      this.#files.load(this.#sites.with(routes));
      if (!isServed && !(await this.#write(() => this.#admin.write(withParts(config, parts), version)))) continue;
      this.#sites.served(routes);
      this.#served = id;
      this.#upstreams.served(routes);
      return this.#trouble.end();
    }
    throw refused("others keep changing its configuration");
  }

  /**
   * Throws a `Failure` if Caddy cannot listen on its ports. It must not be asked to: of a configuration that it refuses
   * because of a port, Caddy 2.6 keeps serving the other ports.
   */
  async #assertUsablePorts(config: CaddyConfig, { servers }: CaddyParts): Promise<void> {
    const { host, port, tlsPort } = this.#settings;
    const other = otherServerOn(config, [port, tlsPort]);
    if (other !== undefined) throw portOfOtherServer(other);
    const listens = (name: string) => `${partsIn(config).servers[name]?.listen}` === `${servers[name]?.listen}`;
    if (!listens(PLAIN)) await assertFree({ host, port, setting: "EDGE_PORT" });
    if (!listens(TLS)) await assertFree({ host, port: tlsPort, setting: "EDGE_TLS_PORT" });
  }

  #parts({ owners, certificates: wanted }: Wanted, left: ReturnType<typeof caddyContent>) {
    this.#fallback ??= left.fallback ?? selfSigned(NO_HOST);
    const former = this.#knowsCertificates ? [] : left.certificates;
    const all = new Map([...former.map((own) => [own.hostname, own] as const), ...wanted]);
    const certificates = new Map([...all].flatMap(([name, sent]) => (sent ? [[name, sent] as const] : [])));
    const retired = this.#upstreams.retiredBy([...owners.values()].flat());
    return caddyParts({ owners, certificates, fallback: this.#fallback, retired }, this.#settings);
  }

  /** Returns whether the configuration was written. An older Caddy refuses to be told to keep WebSockets open. */
  async #write(write: () => Promise<boolean>): Promise<boolean> {
    try {
      return await write();
    } catch (error) {
      const isOld = this.#settings.keepsStreams && error instanceof Failure && /stream_close_delay/.test(error.message);
      if (!isOld) throw error;
      this.#settings = { ...this.#settings, keepsStreams: false };
      return false;
    }
  }

  /** Listens at the former port if it is free, so that Caddy need not be told another one. */
  async #serveFiles(former: string | undefined): Promise<void> {
    const host = "127.0.0.1";
    const port = Number(former?.split(":").at(-1) ?? 0);
    await this.#files.listen({ host, port }).catch(() => this.#files.listen({ host, port: 0 }));
  }

  /** Pushes again when Caddy was restarted, or when somebody else has changed this server's parts. */
  async #watch(): Promise<void> {
    const { signal } = this.#stopped;
    const pause = (ms: number) => delay(ms, undefined, { signal, ref: false }).catch(() => {});
    for (await pause(WATCH_MS); !signal.aborted; await pause(WATCH_MS)) {
      if (!this.#loaded || this.#pushes.isBusy) continue;
      try {
        const id = await this.#admin.readText(`apps/http/servers/${PLAIN}/@id`);
        if (id === this.#served && this.#trouble.isOver) continue;
        if (this.#trouble.isOver) this.#options.log?.write("warn", "Caddy has lost the routes and gets them again");
        await this.#pushes.change((wanted) => wanted);
      } catch (error) {
        this.#trouble.note(error);
        if (!isAway(error)) await pause(REFUSED_MS);
      }
    }
  }
}

function sentAs({ hostname, chain, key }: EdgeCertificate): SentCertificate {
  return { hostname: bareHost(hostname), chain, key: key.reveal() };
}
