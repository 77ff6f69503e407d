import type { EdgeRoute } from "../../ports/domains/edge.ts";
import { bodyReader } from "./body_framing.ts";
import type { BodyReader } from "./body_reader.ts";
import type { ClientConnection } from "./client_connection.ts";
import { NO_ANSWER, TOO_SLOW } from "./error_page.ts";
import type { Exchange } from "./exchange.ts";
import { HEAD_BYTES, headText } from "./head_text.ts";
import { passesUnchanged, responsePassedOn } from "./passed_on.ts";
import type { RequestHead } from "./request_head.ts";
import type { ResponseHead } from "./response_head.ts";
import type { RunningRequests } from "./running_requests.ts";
import { type Address, UpstreamConnection, type UpstreamUser } from "./upstream_connection.ts";
import type { UpstreamPool } from "./upstream_pool.ts";
import { WebSocketTunnel } from "./web_socket_tunnel.ts";

/** A request to proxy to an app. */
export interface ProxyRequest {
  readonly client: ClientConnection;
  readonly head: RequestHead;
  readonly route: EdgeRoute;
  readonly address: Address;
  /** The body bytes that have arrived before, if this is the retry. */
  readonly early: readonly Buffer[] | undefined;
}

/** What proxying needs from the server. */
export interface ProxyHost {
  readonly pool: UpstreamPool;
  readonly running: RunningRequests;
  /** Routes the request again, for its retry. */
  again(request: ProxyRequest, early: readonly Buffer[]): void;
  /** Reports why an app could not be reached. */
  failed(route: EdgeRoute, reason: string): void;
}

/** Offsets of a buffer that holds only body. */
const ALL = { from: 0, bodyAt: 0 };
/** Copying more than this costs more than another write. */
const JOINED_BYTES = 65_536;
const CONTINUE = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n");
/** Methods that are safe to send twice. */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** Proxies one request to an app and streams the response back, byte for byte. */
export class ProxyExchange implements Exchange, UpstreamUser {
  readonly #host: ProxyHost;
  readonly #request: ProxyRequest;
  readonly #repeatable: boolean;
  #upstream: UpstreamConnection | undefined;
  #early: readonly Buffer[];
  #received: Buffer | undefined;
  #answer: ResponseHead | undefined;
  #body: BodyReader | undefined;
  #keepAlive = false;
  #plain = false;
  #begun = false;
  #over = false;

  constructor(host: ProxyHost, request: ProxyRequest) {
    this.#host = host;
    this.#request = request;
    this.#early = request.early ?? [];
    const { framing, method } = request.head;
    const bodiless = framing.kind === "none" || (framing.kind === "length" && framing.length === 0);
    this.#repeatable = bodiless && IDEMPOTENT.has(method);
  }

  /** Sends the request over a pooled connection, or over a new one if there is none or this is the retry. */
  start(): void {
    const { client, route, address, early } = this.#request;
    const { pool, running } = this.#host;
    client.begin(this);
    running.begin(route.servedBy);
    if (!client.bodyComplete) client.hold();
    const pooled = early ? undefined : pool.take(address, { sure: !this.#repeatable });
    if (pooled) this.#ask(pooled);
    else void this.#connect();
  }

  requestBytes(bytes: Buffer): void {
    if (this.#upstream === undefined) this.#early = [...this.#early, bytes];
    else if (!this.#upstream.write(bytes)) this.#request.client.hold();
  }

  clientReady(): void {
    this.#upstream?.proceed();
  }

  clientGone(): void {
    this.#leave();
    this.#upstream?.destroy();
  }

  expired(): void {
    this.#leave();
    this.#upstream?.destroy();
    this.#host.failed(this.#request.route, "it did not begin to answer in time");
    this.#request.client.answer(TOO_SLOW);
  }

  upstreamReady(): void {
    this.#request.client.proceed();
  }

  upstreamData(bytes: Buffer): void {
    try {
      if (this.#body) this.#passBody(bytes);
      else if (this.#upstream) this.#readAnswer(this.#upstream, bytes);
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  upstreamClosed(error: Error | undefined): void {
    if (this.#answer?.framing.kind === "until_close" && !error) this.#finish();
    else if (this.#answer === undefined && this.#received === undefined && this.#repeatable) this.#retry("it closed");
    else this.#fail("it closed the connection before its response was complete");
  }

  async #connect(): Promise<void> {
    try {
      const upstream = await UpstreamConnection.open(this.#request.address);
      if (this.#over) this.#host.pool.release(upstream);
      // It was closed before it had a user to notify.
      else if (!upstream.open) throw new Error("it closed the connection at once");
      else this.#ask(upstream);
    } catch (error) {
      // Nothing was sent, so any request may be retried.
      if (!this.#over) this.#retry(error instanceof Error ? error.message : String(error));
    }
  }

  #ask(upstream: UpstreamConnection): void {
    const { client, head } = this.#request;
    this.#upstream = upstream;
    upstream.user = this;
    const text = client.requests.forwarded(head);
    const early = this.#early;
    this.#early = [];
    const taken =
      early.length === 0
        ? upstream.writeText(text)
        : upstream.write(Buffer.concat([Buffer.from(text, "latin1"), ...early]));
    if (client.bodyComplete) return;
    if (head.expectsContinue) client.send(CONTINUE);
    if (taken) client.proceed();
  }

  #readAnswer(upstream: UpstreamConnection, bytes: Buffer): void {
    let received = this.#received ? Buffer.concat([this.#received, bytes]) : bytes;
    for (;;) {
      const text = headText(received);
      this.#received = received;
      if (text === undefined) {
        if (received.length > HEAD_BYTES) throw new Error("its head is too large");
        return;
      }
      const head = upstream.responses.parse(text, this.#request.head.method);
      const bodyAt = text.length + 2;
      if (head.status >= 200) return this.#beginAnswer(head, received, bodyAt);
      received = received.subarray(bodyAt);
      if (head.status === 101) return this.#upgrade(head, received);
    }
  }

  #beginAnswer(answer: ResponseHead, received: Buffer, bodyAt: number): void {
    const { client, head } = this.#request;
    this.#answer = answer;
    this.#received = undefined;
    this.#body = bodyReader(answer.framing);
    this.#plain = head.http10 && answer.framing.kind === "chunked";
    const { keepAlive, field } = client.connectionField(answer.framing.kind !== "until_close" && !this.#plain);
    this.#keepAlive = keepAlive;
    client.answering();
    const change = { connection: field, chunked: !this.#plain, hsts: client.hsts };
    // Sends the head and the body bytes after it in one write.
    if (passesUnchanged(answer, change)) return this.#passBody(received, { from: 0, bodyAt });
    const text = responsePassedOn(answer, change);
    if (!this.#plain && received.length <= JOINED_BYTES)
      return this.#passBody(joined(text, received, bodyAt), { from: 0, bodyAt: text.length });
    this.#send(Buffer.from(text, "latin1"));
    this.#passBody(received, { from: bodyAt, bodyAt });
  }

  #passBody(bytes: Buffer, { from, bodyAt }: { readonly from: number; readonly bodyAt: number } = ALL): void {
    const body = this.#body!;
    const end = body.read(bytes, bodyAt, this.#plain ? (content) => this.#send(content) : undefined);
    if (!this.#plain && end > from) this.#send(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end));
    if (body.done) this.#finish(end === bytes.length);
  }

  #send(bytes: Buffer): void {
    this.#begun = true;
    if (!this.#request.client.send(bytes)) this.#upstream?.hold();
  }

  #finish(clean = false): void {
    const { client } = this.#request;
    const upstream = this.#upstream;
    this.#leave();
    if (upstream) {
      if (clean && this.#answer?.keepAlive && client.bodyComplete) {
        upstream.proceed();
        this.#host.pool.release(upstream);
      } else upstream.destroy();
    }
    client.finish({ keepAlive: this.#keepAlive });
  }

  #upgrade(answer: ResponseHead, rest: Buffer): void {
    const { client, head, route } = this.#request;
    const { running } = this.#host;
    const upstream = this.#upstream;
    if (!head.wantsWebSocket || !upstream) throw new Error("it switched protocols without a request to do so");
    this.#over = true;
    const tunnel = new WebSocketTunnel({ client, upstream, running, servedBy: route.servedBy });
    const change = { connection: "Upgrade\r\nUpgrade: websocket", chunked: true, hsts: "" };
    tunnel.start(Buffer.from(responsePassedOn(answer, change), "latin1"), rest);
  }

  #retry(reason: string): void {
    if (this.#request.early) return this.#fail(reason);
    this.#leave();
    this.#host.again(this.#request, this.#early);
  }

  #fail(reason: string): void {
    const { client, route } = this.#request;
    this.#leave();
    this.#upstream?.destroy();
    this.#host.failed(route, reason);
    if (this.#begun) client.abort();
    else client.answer(NO_ANSWER);
  }

  /** Marks the exchange as over; the app is no longer needed. */
  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#host.running.end(this.#request.route.servedBy);
  }
}

/** Returns a head with the body bytes that have arrived after the former head. */
function joined(head: string, received: Buffer, bodyAt: number): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + received.length - bodyAt);
  bytes.write(head, "latin1");
  received.copy(bytes, head.length, bodyAt);
  return bytes;
}
