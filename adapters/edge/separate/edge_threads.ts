import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import type { Log } from "../../../ports/system/log.ts";
import { EdgeServer } from "../edge_server.ts";
import type { EdgeProcessSettings } from "./edge_note.ts";
import { carryOut, EdgeThread, type ThreadCommand } from "./edge_thread.ts";

/** What the threads of an edge are started with. */
export interface EdgeThreadsOptions {
  readonly settings: EdgeProcessSettings;
  /** The script of the threads beside the main one. */
  readonly script: string;
  readonly log: Log;
}

/** The same edge in several threads, between which the kernel distributes connections. */
export class EdgeThreads implements AsyncDisposable {
  readonly #main: EdgeServer;
  readonly #others: readonly EdgeThread[];

  private constructor(main: EdgeServer, others: readonly EdgeThread[]) {
    this.#main = main;
    this.#others = others;
  }

  /** Resolves once all threads listen. */
  static async start({ settings, script, log }: EdgeThreadsOptions): Promise<EdgeThreads> {
    const { host, port, trustedProxies, workers = 1 } = settings;
    const shared = workers > 1;
    if (shared) await assertFree(host, port);
    const main = new EdgeServer({ trustedProxies, log });
    await main.listen({ host, port, shared });
    const known = { ...settings, port: main.port };
    const others = await Promise.all(Array.from({ length: workers - 1 }, () => EdgeThread.start(script, known)));
    return new EdgeThreads(main, others);
  }

  /** The port that all threads listen on. */
  get port(): number {
    return this.#main.port;
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
    await Promise.all([this.#main.stop(0), ...this.#others.map((other) => other.terminate())]);
  }
}

/** Throws if another program listens on the port: a shared port could be shared with that program, too. */
async function assertFree(host: string, port: number): Promise<void> {
  await using edge = new EdgeServer();
  await edge.listen({ host, port });
}
