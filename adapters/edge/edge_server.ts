import type { TLSSocket } from "node:tls";
import type { Socket, SocketHandler, TCPSocketListener } from "bun";
import { loggedError } from "../../domain/logged_error.ts";
import { RouteTable } from "../../domain/deployments/route_table.ts";
import type { Edge, EdgeCertificate, EdgeRoute } from "../../ports/domains/edge.ts";
import type { Log } from "../../ports/system/log.ts";
import { addressUnusable } from "../shared/address_unusable.ts";
import { ClientConnection, type ClientHost } from "./client_connection.ts";
import { Deadlines } from "./deadlines.ts";
import { EDGE_LIMITS, type EdgeLimits } from "./edge_limits.ts";
import { NO_RELEASE, NO_SUCH_APP, STARTING, WRONG_METHOD } from "./error_page.ts";
import { FileExchange } from "./file_exchange.ts";
import { type Peer, peerOf } from "./forwarded.ts";
import { httpsAddress, type RedirectRules } from "./https_redirect.ts";
import { redirectResponse, textResponse } from "./own_response.ts";
import { ProxyExchange, type ProxyHost, type ProxyRequest } from "./proxy_exchange.ts";
import type { RequestHead } from "./request_head.ts";
import { RunningRequests } from "./running_requests.ts";
import { openWhenFree } from "./tls/open_when_free.ts";
import { PresentedCertificates, usable } from "./tls/presented_certificates.ts";
import { TlsClientSocket } from "./tls/tls_client_socket.ts";
import { type TlsAddress, type TlsHost, TlsListener } from "./tls/tls_listener.ts";
import type { Address } from "./upstream_connection.ts";
import { UpstreamPool } from "./upstream_pool.ts";

/** Options of an edge server. */
export interface EdgeOptions {
  /** IP addresses and networks whose `X-Forwarded-*` and `Forwarded` headers are trusted. */
  readonly trustedProxies?: readonly string[];
  readonly log?: Log;
  readonly limits?: Partial<EdgeLimits>;
  /** Whether plain requests for hosts with a certificate are redirected to HTTPS. Defaults to `true`. */
  readonly httpsRedirect?: boolean;
  /** For how long browsers are told to use only HTTPS (HSTS), in seconds; 0, the default, for not at all. */
  readonly hstsSeconds?: number;
  /** How often to try a TLS port again that another program uses. Defaults to 10 s. */
  readonly tlsRetryMs?: number;
}

/** Where an edge server listens. */
export interface EdgeAddress {
  readonly host: string;
  readonly port: number;
  /** The port for TLS; without it, there is no TLS. */
  readonly tlsPort?: number | undefined;
  readonly shared?: boolean;
}

const NOTE_EVERY_MS = 10_000;
const TLS_RETRY_MS = 10_000;
const KEEP_ALIVE_PROBE_MS = 60_000;

/** Serves deployed applications over HTTP/1.1, plain and over TLS: apps through a reverse proxy, static sites from their folders. */
export class EdgeServer implements Edge, ClientHost, ProxyHost, TlsHost, RedirectRules, AsyncDisposable {
  readonly deadlines = new Deadlines();
  readonly limits: EdgeLimits;
  readonly hsts: string;
  readonly #options: EdgeOptions;
  readonly #table = new RouteTable<EdgeRoute>();
  readonly running = new RunningRequests();
  readonly pool = new UpstreamPool(this.deadlines);
  readonly #clients = new Set<ClientConnection>();
  readonly certificates = new PresentedCertificates();
  readonly #noted = new Map<string, number>();
  #listener: TCPSocketListener<ClientConnection> | undefined;
  #tls: TlsListener | undefined;
  #loaded = false;
  readonly #stop = new AbortController();
  #empty: (() => void) | undefined;

  constructor(options: EdgeOptions = {}) {
    this.#options = options;
    const { hstsSeconds = 0 } = options;
    this.hsts = hstsSeconds > 0 ? `Strict-Transport-Security: max-age=${hstsSeconds}\r\n` : "";
    this.limits = { ...EDGE_LIMITS, ...options.limits };
  }

  get stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** The port that it listens on for TLS; 0 while it does not. */
  get tlsPort(): number {
    return this.#tls?.port ?? 0;
  }

  get handshakeMs(): number {
    return this.limits.headMs;
  }

  /**
   * Starts listening; until the first `load`, unknown hosts get the "starting" page. Several edges may listen on a
   * `shared` port. The plain port is bound when this returns. A TLS port that another program uses is no failure, since
   * there may be nothing to serve over TLS: it is taken once it is free.
   */
  async listen({ host, port, tlsPort, shared = false }: EdgeAddress): Promise<void> {
    try {
      const options = { hostname: host, port, reusePort: shared, socket: this.#handlers() };
      this.#listener = Bun.listen<ClientConnection>(options);
    } catch (cause) {
      throw addressUnusable({ host, port, setting: "EDGE_PORT" }, cause);
    }
    if (tlsPort === undefined) return;
    const { log, tlsRetryMs: everyMs = TLS_RETRY_MS } = this.#options;
    const { signal } = this.#stop;
    await openWhenFree(() => this.listenTls({ host, port: tlsPort, shared }), { log, everyMs, signal });
  }

  /** Listens for TLS, unless it does already; rejects with a `Failure` if another program uses the port. */
  async listenTls(address: TlsAddress): Promise<void> {
    this.#tls ??= await TlsListener.open(address, this);
    if (this.stopping) this.#tls.stop();
  }

  /** Replaces all routes at the start, and all certificates if they are known; unusable ones are logged. */
  load(routes: readonly EdgeRoute[], certificates?: readonly EdgeCertificate[]): void {
    if (certificates) this.certificates.load(usable(certificates, this.#options.log));
    this.#table.clear();
    for (const [owner, own] of Map.groupBy(routes, ({ projectId }) => projectId)) this.#table.replace(owner, own);
    this.#loaded = true;
    this.#noted.clear();
    this.#keepServed();
  }

  /** All current routes. */
  routes(): readonly EdgeRoute[] {
    return this.#table.all();
  }

  async switch(projectId: string, routes: readonly EdgeRoute[]): Promise<void> {
    this.#table.replace(projectId, routes);
    this.#keepServed();
  }

  async present(hostname: string, certificate: EdgeCertificate | null): Promise<void> {
    this.certificates.present(hostname, certificate);
  }

  hasCertificate(host: string): boolean {
    return this.certificates.has(host);
  }

  drained(servedBy: string, limitMs: number): Promise<void> {
    return this.running.drained(servedBy, limitMs);
  }

  /** Stops accepting connections, drains running requests for up to `graceMs`, then closes every connection. */
  async stop(graceMs: number): Promise<void> {
    if (this.stopping) return;
    this.#stop.abort();
    this.#listener?.stop();
    this.#tls?.stop();
    this.running.leaveAll();
    for (const client of this.#clients) client.retire();
    if (this.#clients.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#empty = resolve;
      const timer = setTimeout(resolve, graceMs);
      await promise;
      clearTimeout(timer);
    }
    for (const client of this.#clients) client.abort();
    this.#listener?.stop(true);
    this.pool.serveOnly([]);
    this.deadlines[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }

  dispatch(client: ClientConnection, head: RequestHead): void {
    this.#dispatch(client, head, undefined);
  }

  again({ client, head }: ProxyRequest, early: readonly Buffer[]): void {
    this.#dispatch(client, head, early);
  }

  failed({ projectId, servedBy }: EdgeRoute, reason: string): void {
    if ((this.#noted.get(servedBy) ?? -Infinity) + NOTE_EVERY_MS > performance.now()) return;
    this.#noted.set(servedBy, performance.now());
    this.#options.log?.write("warn", "An app did not answer", { projectId, servedBy, reason });
  }

  connected(socket: TLSSocket): void {
    const tls = new TlsClientSocket(socket);
    const client = new ClientConnection(this, tls, this.#peerOf(socket.remoteAddress ?? "", "https"));
    this.#clients.add(client);
    const closed = () => this.#closed(client);
    const served = { received: client.received.bind(client), writable: client.writable.bind(client), closed };
    tls.serve(served, (error) => this.#logError(error));
  }

  #dispatch(client: ClientConnection, head: RequestHead, early: readonly Buffer[] | undefined): void {
    const route = this.#table.find(head.host, head.path);
    const target = route?.target;
    const { httpsRedirect = true } = this.#options;
    // Certificate authorities ask for texts over plain HTTP.
    const secure = httpsRedirect && target?.kind !== "text" && httpsAddress(head, client.peer, this);
    if (secure) return client.respond(redirectResponse(secure));
    if (!route || !target) return client.answer(this.#loaded ? NO_SUCH_APP : STARTING);
    if (target.kind === "address") new ProxyExchange(this, { client, head, route, address: target, early }).start();
    else if (target.kind === "text")
      if (head.method === "GET" || head.method === "HEAD") client.respond(textResponse(target.text));
      else client.answer(WRONG_METHOD);
    else if (target.kind === "none") client.answer(NO_RELEASE);
    else if (target.kind === "starting") client.answer(STARTING);
    else if (target.kind === "folder")
      void new FileExchange({ client, head, route, folder: target.path, running: this.running }).run();
  }

  #handlers(): SocketHandler<ClientConnection> {
    return {
      open: (socket: Socket<ClientConnection>) => {
        socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
        socket.data = new ClientConnection(this, socket, this.#peerOf(socket.remoteAddress, "http"));
        this.#clients.add(socket.data);
      },
      data: (socket, bytes) => socket.data.received(bytes),
      drain: (socket) => socket.data.writable(),
      close: (socket) => this.#closed(socket.data),
      error: (socket, error) => {
        this.#logError(error);
        socket.terminate();
      },
    };
  }

  #peerOf(remoteAddress: string, protocol: Peer["protocol"]): Peer {
    return peerOf(remoteAddress, protocol, this.#options.trustedProxies ?? []);
  }

  #closed(client: ClientConnection): void {
    this.#clients.delete(client);
    client.closed();
    if (this.#clients.size === 0) this.#empty?.();
  }

  #logError(error: unknown): void {
    this.#options.log?.write("error", "A request was aborted by an error of the edge", { ...loggedError(error) });
  }

  /** Closes idle connections to apps without a route, which would keep those apps from exiting. */
  #keepServed(): void {
    this.pool.serveOnly(
      this.#table.all().flatMap(({ target }): Address[] => (target.kind === "address" ? [target] : [])),
    );
  }
}
