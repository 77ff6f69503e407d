import { BadMessage } from "./bad_message.ts";
import { bodyReader } from "./body_framing.ts";
import type { BodyReader } from "./body_reader.ts";
import type { Deadlines, Timed } from "./deadlines.ts";
import type { ClientSocket } from "./client_socket.ts";
import type { EdgeLimits } from "./edge_limits.ts";
import { badRequest, type ErrorPage } from "./error_page.ts";
import type { Exchange } from "./exchange.ts";
import type { Peer } from "./forwarded.ts";
import { allFields, fieldValue } from "./header_fields.ts";
import { HEAD_BYTES, headText } from "./head_text.ts";
import { LatestRequest } from "./latest_request.ts";
import { Outlet } from "./outlet.ts";
import { type OwnResponse, pageResponse } from "./own_response.ts";
import { reasonPhrase } from "./reason_phrase.ts";
import type { RequestHead } from "./request_head.ts";

/** What a client connection needs from its server. */
export interface ClientHost {
  readonly deadlines: Deadlines;
  readonly limits: EdgeLimits;
  /** Whether to close connections after the current response. */
  readonly stopping: boolean;
  /** The header line that tells browsers to use only HTTPS (HSTS), with its line end; empty for none. */
  readonly hsts: string;
  /** Starts handling a request; its body follows through the exchange. */
  dispatch(client: ClientConnection, head: RequestHead): void;
}

/** Maximum bytes of pipelined requests to buffer while one is being handled. */
const AHEAD_BYTES = 65_536;
const NOTHING = Buffer.alloc(0);
const NO_BODY = bodyReader({ kind: "none" });

/** A client connection: reads requests one after the other and writes their responses. */
export class ClientConnection implements Timed {
  readonly requests: LatestRequest;
  readonly peer: Peer;
  /** The HSTS header line of responses on this connection; empty without TLS, where browsers ignore it. */
  readonly hsts: string;
  deadline: number;
  readonly #host: ClientHost;
  readonly #socket: ClientSocket;
  readonly #outlet: Outlet;
  #head: RequestHead | undefined;
  #exchange: Exchange | undefined;
  #body: BodyReader = NO_BODY;
  #ahead: Buffer = NOTHING;
  #held = false;
  #reading = false;
  #answering = false;
  #ending: "no" | "after_flush" | "lingering" = "no";

  constructor(host: ClientHost, socket: ClientSocket, peer: Peer) {
    this.#host = host;
    this.#socket = socket;
    this.#outlet = new Outlet(socket);
    this.requests = new LatestRequest(peer);
    this.peer = peer;
    this.hsts = peer.protocol === "https" ? host.hsts : "";
    this.deadline = host.deadlines.now + host.limits.headMs;
    host.deadlines.add(this);
  }

  /** Whether the whole body of the current request has arrived. */
  get bodyComplete(): boolean {
    return this.#body.done;
  }

  /** Whether no request is in progress. */
  get idle(): boolean {
    return this.#exchange === undefined && this.#ahead.length === 0 && this.#outlet.empty;
  }

  received(bytes: Buffer): void {
    try {
      const rest = this.#takeBody(bytes);
      if (rest.length === 0 || this.#ending !== "no") return;
      this.#ahead = this.#ahead.length === 0 ? rest : Buffer.concat([this.#ahead, rest]);
      this.#readHeads();
      if (this.#ahead.length > AHEAD_BYTES) this.#socket.pause();
    } catch (error) {
      this.#refuse(error);
    }
  }

  writable(): void {
    if (!this.#outlet.flush()) return;
    if (this.#ending === "after_flush") this.#close();
    else if (this.#exchange) this.#exchange.clientReady();
    else this.#next();
  }

  closed(): void {
    this.#host.deadlines.delete(this);
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.clientGone();
  }

  expire(): void {
    this.deadline = Infinity;
    if (this.#exchange) this.#exchange.expired();
    else if (this.#ahead.length > 0 && this.#ending === "no")
      this.#refuse(new BadMessage(408, "its head took too long"));
    else if (this.idle && this.#ending === "no") this.#end();
    else this.abort();
  }

  /** Lets an exchange handle the current request. */
  begin(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /**
   * Returns whether the client accepts more bytes; if not, the exchange is notified with `clientReady` once it does.
   */
  send(bytes: Buffer): boolean {
    return this.#outlet.write(bytes);
  }

  /** Marks the response as begun: from now on it has no deadline. */
  answering(): void {
    this.#answering = true;
    this.deadline = Infinity;
  }

  /** Pauses reading from the client (backpressure). */
  hold(): void {
    this.#held = true;
    this.#socket.pause();
  }

  proceed(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#socket.resume();
  }

  /** Passes everything that arrives from now on to the exchange. */
  openTunnel(): void {
    this.answering();
    this.#body = bodyReader({ kind: "until_close" });
    const early = this.#ahead;
    this.#ahead = NOTHING;
    if (early.length > 0) this.#exchange?.requestBytes(early);
  }

  /** Ends the current request; the connection is reused if both sides allow keep-alive. */
  finish({ keepAlive }: { readonly keepAlive: boolean }): void {
    this.#exchange = undefined;
    if (!keepAlive) this.#end();
    else {
      this.#within(this.#body.done ? "idleMs" : "lingerMs");
      this.proceed();
      this.#next();
    }
  }

  /**
   * Returns whether the connection stays open after the response, and its Connection header. `delimited` says whether
   * the client can detect the end of the response body.
   */
  connectionField(delimited: boolean): { readonly keepAlive: boolean; readonly field: string | undefined } {
    const head = this.#head;
    // A client that did not get `100 Continue` may send its body or not, so the next request could not be delimited.
    const unsure = head?.expectsContinue === true && !this.#body.done;
    if (!head?.keepAlive || !delimited || unsure || this.#host.stopping) return { keepAlive: false, field: "close" };
    return { keepAlive: true, field: head.http10 ? "keep-alive" : undefined };
  }

  /** Responds with one of the edge's own error pages. */
  answer(page: ErrorPage): void {
    this.respond(pageResponse(page, fieldValue(allFields(this.#head?.lines ?? ""), "accept")));
  }

  /** Responds in place of an app. */
  respond({ status, lines, text }: OwnResponse): void {
    const { keepAlive, field } = this.connectionField(true);
    const head =
      `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n${lines}Content-Length: ${Buffer.byteLength(text)}\r\n` +
      this.hsts +
      (field === undefined ? "\r\n" : `Connection: ${field}\r\n\r\n`);
    this.send(Buffer.from(this.#head?.method === "HEAD" ? head : head + text));
    this.finish({ keepAlive });
  }

  /** Resets the connection, so that the client notices that its response is incomplete. */
  abort(): void {
    this.#socket.terminate();
  }

  /** Closes the connection if it is idle; one with a request in progress closes after its response. */
  retire(): void {
    if (this.idle) this.#end();
  }

  #within(limit: keyof EdgeLimits): void {
    this.deadline = this.#host.deadlines.now + this.#host.limits[limit];
  }

  #takeBody(bytes: Buffer): Buffer {
    if (this.#body.done) return bytes;
    const count = this.#body.read(bytes, 0);
    if (this.#exchange) {
      if (!this.#answering) this.#within("answerMs");
      this.#exchange.requestBytes(count === bytes.length ? bytes : bytes.subarray(0, count));
    } else if (this.#body.done && this.#ending === "no") this.#within("idleMs");
    return count === bytes.length ? NOTHING : bytes.subarray(count);
  }

  #next(): void {
    if (this.#reading || this.#ahead.length === 0) return;
    try {
      this.#readHeads();
      if (this.#ahead.length <= AHEAD_BYTES && !this.#held) this.#socket.resume();
    } catch (error) {
      this.#refuse(error);
    }
  }

  /**
   * Handles one request at a time, and flushes its response before the next: a client that does not read has to wait.
   */
  #readHeads(): void {
    this.#reading = true;
    try {
      while (
        this.#ahead.length > 0 &&
        !this.#exchange &&
        this.#body.done &&
        this.#outlet.empty &&
        this.#ending === "no"
      )
        if (!this.#readHead()) return;
    } finally {
      this.#reading = false;
    }
  }

  #readHead(): boolean {
    while (this.#ahead[0] === 13 && this.#ahead[1] === 10) this.#ahead = this.#ahead.subarray(2);
    const text = headText(this.#ahead);
    if (text === undefined) {
      if (this.#ahead.length > HEAD_BYTES) throw new BadMessage(431, "its head is too large");
      if (this.#head) this.#within("headMs");
      this.#head = undefined;
      return false;
    }
    this.#head = undefined;
    const head = this.requests.parse(text);
    const bodyAt = text.length + 2;
    const rest = bodyAt === this.#ahead.length ? NOTHING : this.#ahead.subarray(bodyAt);
    this.#head = head;
    this.#body = bodyReader(head.framing);
    this.#answering = false;
    this.#within("answerMs");
    const count = this.#body.done ? 0 : this.#body.read(rest, 0);
    this.#ahead = count === rest.length ? NOTHING : rest.subarray(count);
    this.#host.dispatch(this, head);
    if (count > 0) (this.#exchange as Exchange | undefined)?.requestBytes(rest.subarray(0, count));
    return true;
  }

  #refuse(error: unknown): void {
    if (!(error instanceof BadMessage)) throw error;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#ahead = NOTHING;
    // The end of a malformed request is unknown, so nothing after it can be parsed.
    this.#body = bodyReader({ kind: "until_close" });
    exchange?.clientGone();
    if (exchange && this.#answering) {
      this.abort();
      return;
    }
    this.#head = undefined;
    this.answer(badRequest(error.status, error.message));
  }

  #end(): void {
    if (this.#ending !== "no") return;
    this.#ending = "after_flush";
    this.#within("lingerMs");
    this.#socket.resume();
    if (this.#outlet.empty) this.#close();
  }

  /** Half-closes while request bytes are unread: the reset of a full close could make the client lose the response. */
  #close(): void {
    if (this.#ending === "lingering") return;
    this.#ending = "lingering";
    if (this.#body.done) this.#socket.end();
    else this.#socket.shutdown();
  }
}
