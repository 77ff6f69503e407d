import { connect } from "node:net";
import type { WebText, WebTextRequest, WebTexts } from "../../ports/domains/web_texts.ts";

/** Settings of requests. */
export interface SocketWebTextsOptions {
  /** The port of web servers. Defaults to 80. */
  readonly port?: number;
  /** Timeout of a whole request. Defaults to 10 s. */
  readonly timeoutMs?: number;
}

const HTTP_PORT = 80;
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TEXT_BYTES = 1_024;
const MAX_HEAD_BYTES = 16_384;
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})[ \r]/;

/**
 * Reads texts over sockets of its own: `fetch` looks names up by itself, and goes through the proxy of the environment.
 * Asks by HTTP/1.0, so that no server answers in chunks.
 */
export class SocketWebTexts implements WebTexts {
  readonly #port: number;
  readonly #timeoutMs: number;

  constructor({ port = HTTP_PORT, timeoutMs = DEFAULT_TIMEOUT_MS }: SocketWebTextsOptions = {}) {
    this.#port = port;
    this.#timeoutMs = timeoutMs;
  }

  read({ address, hostname, path, signal }: WebTextRequest): Promise<WebText> {
    if (signal?.aborted) return Promise.resolve(UNREACHABLE);
    return new Promise((resolve) => {
      const socket = connect({ host: address, port: this.#port });
      let received = "";
      const settle = (answer: WebText) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        socket.destroy();
        resolve(answer);
      };
      const giveUp = () => settle(UNREACHABLE);
      const timer = setTimeout(giveUp, this.#timeoutMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      socket.once("connect", () => socket.write(`GET ${path} HTTP/1.0\r\nHost: ${hostname}\r\nAccept: */*\r\n\r\n`));
      socket.on("data", (bytes) => {
        received += bytes.toString("latin1");
        if (isEnough(received)) settle(answerIn(received));
      });
      // Stays for errors after the end, which would end the process otherwise.
      socket.on("error", () => settle(answerIn(received)));
      socket.once("close", () => settle(answerIn(received)));
    });
  }
}

const UNREACHABLE: WebText = { kind: "unreachable" };

/** Returns whether the whole text has arrived, or more than is read. */
function isEnough(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return received.length > MAX_HEAD_BYTES;
  const length = /^content-length: *(\d+) *\r?$/im.exec(received.slice(0, end))?.[1] ?? MAX_TEXT_BYTES;
  return received.length - end - 4 >= Math.min(Number(length), MAX_TEXT_BYTES);
}

function answerIn(received: string): WebText {
  const status = STATUS_LINE.exec(received)?.[1];
  const end = received.indexOf("\r\n\r\n");
  if (status === undefined || end < 0) return UNREACHABLE;
  return { kind: "answered", status: Number(status), text: received.slice(end + 4, end + 4 + MAX_TEXT_BYTES) };
}
