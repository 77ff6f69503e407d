import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import type { Log } from "../../../ports/system/log.ts";
import { EdgeServer } from "../edge_server.ts";
import { openWhenFree } from "../tls/open_when_free.ts";
import type { TlsAddress } from "../tls/tls_listener.ts";
import type { EdgeProcessSettings } from "./edge_note.ts";
import { carryOut, EdgeThread, type ThreadCommand } from "./edge_thread.ts";

/** What the threads of an edge are started with. */
export interface EdgeThreadsOptions {
  readonly settings: EdgeProcessSettings;
  /** The script of the threads beside the main one. */
  readonly script: string;
  readonly log: Log;
  /** Called once the threads listen for TLS. */
  readonly onTls?: () => void;
}

/** How often to try a TLS port again that another program uses. */
const TLS_RETRY_MS = 10_000;

/** The same edge in several threads, between which the kernel distributes connections. */
export class EdgeThreads implements AsyncDisposable {
  readonly #main: EdgeServer;
  readonly #others: readonly EdgeThread[];
  readonly #stopped = new AbortController();

  private constructor(main: EdgeServer, others: readonly EdgeThread[]) {
    this.#main = main;
    this.#others = others;
  }

  /** Resolves once all threads listen, with or without TLS: that begins later if another program uses the port. */
  static async start({ settings, script, log, onTls }: EdgeThreadsOptions): Promise<EdgeThreads> {
    const { host, port, tlsPort, workers = 1 } = settings;
    const shared = workers > 1;
    if (shared) await assertFree((edge) => edge.listen({ host, port }));
    const main = new EdgeServer({ ...settings, log });
    await main.listen({ host, port, shared });
    const known = { ...settings, port: main.port };
    const others = await Promise.all(Array.from({ length: workers - 1 }, () => EdgeThread.start(script, known)));
    const threads = new EdgeThreads(main, others);
    if (tlsPort === undefined) return threads;
    const { signal } = threads.#stopped;
    const open = () => threads.#listenTls({ host, port: tlsPort, shared }).then(onTls);
    await openWhenFree(open, { log, everyMs: TLS_RETRY_MS, signal });
    return threads;
  }

  /** The port that all threads listen on. */
  get port(): number {
    return this.#main.port;
  }

  /** The port that all threads listen on for TLS; 0 while they do not. */
  get tlsPort(): number {
    return this.#main.tlsPort;
  }

  /** All current routes. */
  routes(): readonly EdgeRoute[] {
    return this.#main.routes();
  }

  /** Resolves once all threads have carried out the command. */
  async carryOut(command: ThreadCommand): Promise<void> {
    await Promise.all([carryOut(this.#main, command), ...this.#others.map((other) => other.carryOut(command))]);
  }

  /** Rejects when a thread ends by itself. */
  async failed(): Promise<never> {
    return Promise.race([...this.#others.map(({ ended }) => ended), new Promise<never>(() => {})]);
  }

  /** Ends all threads at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#main.stop(0), ...this.#others.map((other) => other.terminate())]);
  }

  async #listenTls(address: TlsAddress): Promise<void> {
    if (address.shared && this.tlsPort === 0) await assertFree((edge) => edge.listenTls({ ...address, shared: false }));
    await this.#main.listenTls(address);
    const command = ["listenTls", { ...address, port: this.tlsPort }] as const;
    await Promise.all(this.#others.map((other) => other.carryOut(command)));
  }
}

/** Throws if another program listens on the port: a shared port could be shared with that program, too. */
async function assertFree(listen: (edge: EdgeServer) => Promise<void>): Promise<void> {
  await using edge = new EdgeServer();
  await listen(edge);
}
