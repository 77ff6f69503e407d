import { type MessagePort, Worker } from "node:worker_threads";
import { Secret } from "../../../domain/secret.ts";
import type { EdgeCertificate, EdgeRoute } from "../../../ports/domains/edge.ts";
import type { Log } from "../../../ports/system/log.ts";
import { EdgeServer } from "../edge_server.ts";
import type { TlsAddress } from "../tls/tls_listener.ts";
import type { EdgeProcessSettings } from "./edge_note.ts";

/** A certificate in a command, with its private key in plain text. */
export interface SentCertificate {
  readonly hostname: string;
  readonly chain: string;
  readonly key: string;
}

/** The commands that each thread of an edge carries out. */
export interface ThreadCommands {
  /** Replaces all routes at once, and all certificates. */
  readonly load: {
    readonly routes: readonly EdgeRoute[];
    /** `null` if the server does not know them: those of the edge stay. */
    readonly certificates: readonly SentCertificate[] | null;
  };
  readonly present: { readonly hostname: string; readonly certificate: SentCertificate | null };
  readonly listenTls: TlsAddress;
  readonly switch: { readonly owner: string; readonly routes: readonly EdgeRoute[] };
  readonly drained: { readonly servedBy: string; readonly limitMs: number };
  readonly stop: { readonly graceMs: number };
}

/** One of the commands, with its arguments. */
export type ThreadCommand = {
  readonly [C in keyof ThreadCommands]: readonly [C, ThreadCommands[C]];
}[keyof ThreadCommands];

/** A message to a thread; the thread responds with the id once the command is carried out. */
interface Order {
  readonly id: number;
  readonly command: ThreadCommand;
}

/** The id of the message that a thread sends once it listens. */
const LISTENING = 0;

/** Carries out a command on the edge of the calling thread. */
export async function carryOut(edge: EdgeServer, command: ThreadCommand): Promise<void> {
  switch (command[0]) {
    case "load":
      return edge.load(command[1].routes, command[1].certificates?.map(received));
    case "present":
      return edge.present(command[1].hostname, command[1].certificate && received(command[1].certificate));
    case "listenTls":
      return edge.listenTls(command[1]);
    case "switch":
      return edge.switch(command[1].owner, command[1].routes);
    case "drained":
      return edge.drained(command[1].servedBy, command[1].limitMs);
    case "stop":
      return edge.stop(command[1].graceMs);
  }
}

function received({ key, ...rest }: SentCertificate): EdgeCertificate {
  return { ...rest, key: new Secret(key) };
}

/** Serves in the calling worker thread, on a port that other threads listen on, by the commands of its parent. */
export async function serveThread(parent: MessagePort, settings: EdgeProcessSettings, log: Log): Promise<void> {
  const edge = new EdgeServer({ ...settings, log });
  parent.on("message", async ({ id, command }: Order) => {
    await carryOut(edge, command);
    parent.postMessage(id, []);
  });
  await edge.listen({ host: settings.host, port: settings.port, shared: true });
  parent.postMessage(LISTENING, []);
}

/** Another thread of an edge, as the main thread sees it. */
export class EdgeThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, () => void>();
  readonly #ended = Promise.withResolvers<never>();
  #latest = LISTENING;

  private constructor(script: string, settings: EdgeProcessSettings) {
    this.#worker = new Worker(script, { workerData: settings });
    this.#worker.on("message", (id: number) => {
      this.#waiting.get(id)?.();
      this.#waiting.delete(id);
    });
    this.#worker.on("error", (error) => this.#ended.reject(error));
    this.#worker.on("exit", () => this.#ended.reject(new Error("a thread of the edge ended")));
    this.#ended.promise.catch(() => {});
  }

  /** Starts a thread with this script, which calls `serveThread`; resolves once it listens. */
  static async start(script: string, settings: EdgeProcessSettings): Promise<EdgeThread> {
    const thread = new EdgeThread(script, settings);
    await thread.#response(LISTENING);
    return thread;
  }

  /** Rejects when the thread ends. */
  get ended(): Promise<never> {
    return this.#ended.promise;
  }

  /** Resolves once the thread has carried out the command. */
  carryOut(command: ThreadCommand): Promise<void> {
    const id = ++this.#latest;
    const response = this.#response(id);
    this.#worker.postMessage({ id, command } satisfies Order, []);
    return response;
  }

  /** Ends the thread at once. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #response(id: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(id, resolve);
    return Promise.race([promise, this.#ended.promise]);
  }
}
