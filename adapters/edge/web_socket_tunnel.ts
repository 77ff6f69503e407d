import type { ClientConnection } from "./client_connection.ts";
import type { Exchange } from "./exchange.ts";
import { FrameBorder } from "./frame_border.ts";
import type { Closable, RunningRequests } from "./running_requests.ts";
import type { UpstreamConnection, UpstreamUser } from "./upstream_connection.ts";

/** The two ends of a proxied WebSocket. */
export interface TunnelEnds {
  readonly client: ClientConnection;
  readonly upstream: UpstreamConnection;
  readonly running: RunningRequests;
  readonly servedBy: string;
}

/** A close frame with code 1001, "going away"; clients have to mask frames, here with zeros. */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9]);
const GOING_AWAY_MASKED = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9]);
const LEAVE_MS = 1_000;

/** Forwards WebSocket bytes unchanged in both directions; tracks frames only to insert a close frame between two. */
export class WebSocketTunnel implements Exchange, UpstreamUser, Closable {
  readonly #ends: TunnelEnds;
  readonly #toClient = new FrameBorder();
  readonly #toUpstream = new FrameBorder();
  #leaving = false;
  #clientNotified = false;
  #upstreamNotified = false;
  #timer: Timer | undefined;
  #over = false;

  constructor(ends: TunnelEnds) {
    this.#ends = ends;
  }

  /** Takes over both connections; forwards the app's 101 response and the bytes after it. */
  start(agreement: Buffer, rest: Buffer): void {
    const { client, upstream, running, servedBy } = this.#ends;
    running.note(servedBy, this);
    upstream.user = this;
    client.begin(this);
    client.send(agreement);
    if (rest.length > 0) this.upstreamData(rest);
    client.openTunnel();
  }

  requestBytes(bytes: Buffer): void {
    const { client, upstream } = this.#ends;
    const count = this.#toUpstream.pass(bytes, this.#leaving);
    if (count > 0 && !this.#upstreamNotified && !upstream.write(bytes.subarray(0, count))) client.hold();
    this.#sendClose();
  }

  upstreamData(bytes: Buffer): void {
    const { client, upstream } = this.#ends;
    const count = this.#toClient.pass(bytes, this.#leaving);
    if (count > 0 && !this.#clientNotified && !client.send(bytes.subarray(0, count))) upstream.hold();
    this.#sendClose();
  }

  clientReady(): void {
    this.#ends.upstream.proceed();
  }

  upstreamReady(): void {
    this.#ends.client.proceed();
  }

  clientGone(): void {
    this.#end();
    this.#ends.upstream.end();
  }

  upstreamClosed(error: Error | undefined): void {
    this.#end();
    if (error) this.#ends.client.abort();
    else this.#ends.client.finish({ keepAlive: false });
  }

  expired(): void {}

  /** Sends a close frame ("going away") to both ends, each at a frame boundary, and disconnects shortly after. */
  leave(): void {
    if (this.#leaving || this.#over) return;
    this.#leaving = true;
    this.#timer = setTimeout(() => this.#hangUp(), LEAVE_MS);
    this.#sendClose();
  }

  #sendClose(): void {
    if (!this.#leaving) return;
    const { client, upstream } = this.#ends;
    if (!this.#clientNotified && this.#toClient.between) {
      this.#clientNotified = true;
      client.send(GOING_AWAY);
    }
    if (!this.#upstreamNotified && this.#toUpstream.between) {
      this.#upstreamNotified = true;
      upstream.write(GOING_AWAY_MASKED);
    }
  }

  #hangUp(): void {
    if (this.#over) return;
    this.#end();
    this.#ends.upstream.destroy();
    this.#ends.client.finish({ keepAlive: false });
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#ends.running.forget(this.#ends.servedBy, this);
    this.#ends.running.end(this.#ends.servedBy);
  }
}
