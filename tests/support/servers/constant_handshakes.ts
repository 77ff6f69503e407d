import { rawTlsConnection } from "./raw_http.ts";

const PAUSE_MS = 20;

/** Requests to a host over TLS, each on a new connection, one after the other until `stop`. */
export class ConstantHandshakes implements AsyncDisposable {
  /** What went wrong, in order. */
  readonly failures: string[] = [];
  /** The fingerprints of the presented certificates, in order, without repetitions. */
  readonly fingerprints: string[] = [];
  /** How many requests were answered. */
  answered = 0;
  readonly #stopping = new AbortController();
  readonly #asking: Promise<void>;

  /** Asks the edge at a port of this machine; each response has to end with the given text. */
  constructor(port: number, hostname: string, text: string) {
    this.#asking = this.#ask(port, hostname, text);
  }

  /** Resolves once this many more requests were answered, or one has failed. */
  async more(count: number): Promise<void> {
    const until = this.answered + count;
    while (this.answered < until && this.failures.length === 0) await Bun.sleep(PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#asking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #ask(port: number, hostname: string, text: string): Promise<void> {
    const first = `GET / HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`;
    for (; !this.#stopping.signal.aborted; await Bun.sleep(PAUSE_MS)) {
      try {
        using connection = await rawTlsConnection(port, hostname, { first });
        const response = await connection.closed;
        if (!response.startsWith("HTTP/1.1 200") || !response.endsWith(text)) throw new Error(response.slice(0, 500));
        if (this.fingerprints.at(-1) !== connection.fingerprint) this.fingerprints.push(connection.fingerprint);
        this.answered++;
      } catch (error) {
        this.failures.push(String(error));
      }
    }
  }
}
