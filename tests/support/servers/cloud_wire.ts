import type { Socket } from "node:net";
import { type TcpGate, tcpGate } from "../faults/tcp_gate.ts";

/** A request of a self-hosted server to its cloud and the answer to it, as they are on the wire (latin1). */
export interface Exchange {
  /** Such as `GET /api/health`. */
  readonly line: string;
  readonly client: Socket;
  request: string;
  answer: string;
}

/** Called with each part of an answer of the cloud, before the client gets to see it. */
export type OnAnswer = (exchange: Exchange) => unknown;

const REQUEST = /^([A-Z]+ \S+) HTTP\/1\.1\r\n/;

/** The connection between a self-hosted server and its cloud: records all that is said, and can be cut. */
export class CloudWire implements AsyncDisposable {
  readonly gate: TcpGate;
  /** Oldest first. */
  readonly exchanges: Exchange[] = [];
  onAnswer: OnAnswer | undefined;
  readonly #current = new Map<Socket, Exchange>();

  private constructor(gate: TcpGate) {
    this.gate = gate;
    gate.watch = (bytes, client) => this.#asked(bytes.toString("latin1"), client);
    gate.watchAnswers = (bytes, client) => this.#answered(bytes.toString("latin1"), client);
  }

  static async to(port: number): Promise<CloudWire> {
    return new CloudWire(await tcpGate(port));
  }

  get address(): string {
    return `http://127.0.0.1:${this.gate.port}`;
  }

  /** The last exchange. */
  get last(): Exchange {
    const last = this.exchanges.at(-1);
    if (!last) throw new Error("The cloud was asked nothing");
    return last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gate[Symbol.asyncDispose]();
  }

  #asked(text: string, client: Socket): void {
    const line = REQUEST.exec(text)?.[1];
    const current = this.#current.get(client);
    if (line === undefined || (current && current.answer === "")) {
      if (current) current.request += text;
      return;
    }
    const exchange = { line, client, request: text, answer: "" };
    this.#current.set(client, exchange);
    this.exchanges.push(exchange);
  }

  #answered(text: string, client: Socket): void {
    const exchange = this.#current.get(client);
    if (!exchange) return;
    exchange.answer += text;
    this.onAnswer?.(exchange);
  }
}

/** An answer, parsed. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** One character per byte (latin1). */
  readonly body: string;
}

/** Parses the answer of an exchange that is over. */
export function answerOf({ answer }: Exchange): WireAnswer {
  const end = answer.indexOf("\r\n\r\n");
  const [first = "", ...lines] = answer.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
  const rest = answer.slice(end + 4);
  const body = headers.get("transfer-encoding") === "chunked" ? dechunked(rest) : rest;
  return { status: Number(first.split(" ")[1]), headers, body };
}

function dechunked(text: string): string {
  let body = "";
  for (let at = 0; ;) {
    const end = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, end), 16);
    if (end < 0 || length === 0) return body;
    body += text.slice(end + 2, end + 2 + length);
    at = end + 2 + length + 2;
  }
}
