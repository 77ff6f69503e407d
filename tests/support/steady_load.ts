import { connect, type Socket } from "node:net";

/** What came of a load. */
export interface LoadOutcome {
  readonly answers: number;
  /** Requests without a whole answer of 200, with the reason. */
  readonly failures: readonly string[];
  /** Answers with an older version than one that had been seen before their request was sent. */
  readonly wentBack: readonly string[];
  /** The bodies that were answered, in the order of their first appearance. */
  readonly versions: readonly string[];
}

/** A load over plain sockets, where nothing is tried again behind the test's back. */
export interface SteadyLoad {
  readonly port: number;
  readonly hostname: string;
  readonly keepAlive: number;
  readonly fresh: number;
  /** Tells of two bodies whether the first is older than the second. */
  readonly isOlder: (one: string, other: string) => boolean;
}

/** Sends requests without a pause over connections that stay open and over fresh ones, until stopped. */
export function steadyLoad({ port, hostname, keepAlive, fresh, isOlder }: SteadyLoad) {
  const failures: string[] = [];
  const wentBack: string[] = [];
  const versions: string[] = [];
  let answers = 0;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function ask(connection: Connection, close: boolean): Promise<void> {
    const newest = versions.at(-1);
    const body = await connection.request(hostname, close);
    answers++;
    if (newest !== undefined && isOlder(body, newest)) wentBack.push(`${newest} ${body}`);
    if (!versions.includes(body)) versions.push(body);
  }

  async function stayOpen(): Promise<void> {
    while (!signal.aborted) {
      using connection = await Connection.open(port);
      try {
        while (!signal.aborted) {
          await ask(connection, false);
          await Bun.sleep(2);
        }
      } catch (error) {
        failures.push(`kept: ${String(error)}`);
      }
    }
  }

  async function openAnew(): Promise<void> {
    for (; !signal.aborted; await Bun.sleep(2)) {
      try {
        using connection = await Connection.open(port);
        await ask(connection, true);
      } catch (error) {
        failures.push(`fresh: ${String(error)}`);
      }
    }
  }

  const running = [
    ...Array.from({ length: keepAlive }, () => stayOpen()),
    ...Array.from({ length: fresh }, () => openAnew()),
  ];
  return {
    async stop(): Promise<LoadOutcome> {
      stopping.abort();
      await Promise.all(running);
      return { answers, failures, wentBack, versions };
    },
  };
}

/** One connection to the edge. */
class Connection implements Disposable {
  readonly #socket: Socket;
  #received = "";
  #change: (() => void) | undefined;
  #ended: string | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#noted(() => (this.#received += text)));
    socket.on("error", (error) => this.#noted(() => (this.#ended ??= error.message)));
    socket.on("close", () => this.#noted(() => (this.#ended ??= "closed")));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Connection(socket));
      });
    });
  }

  /** Sends a request and gives the body of its answer. */
  async request(hostname: string, close: boolean): Promise<string> {
    const connection = close ? "Connection: close\r\n" : "";
    this.#socket.write(`GET / HTTP/1.1\r\nHost: ${hostname}\r\n${connection}\r\n`);
    for (;;) {
      const head = /^HTTP\/1\.1 (\d+)[^]*?\r\n\r\n/.exec(this.#received);
      const length = head && Number(/content-length: (\d+)/i.exec(head[0])?.[1] ?? Number.NaN);
      if (head && length !== null && this.#received.length >= head[0].length + length) {
        const body = this.#received.slice(head[0].length, head[0].length + length);
        this.#received = this.#received.slice(head[0].length + length);
        if (head[1] !== "200") throw new Error(`${head[1]}: ${body.slice(0, 200)}`);
        return body;
      }
      if (this.#ended !== undefined) throw new Error(`${this.#ended} after ${this.#received.length} characters`);
      await new Promise<void>((resolve) => (this.#change = resolve));
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #noted(change: () => void): void {
    change();
    this.#change?.();
  }
}
