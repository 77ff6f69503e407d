import type { Socket, SocketHandler } from "bun";
import type { Timed } from "./deadlines.ts";
import { LatestResponse } from "./latest_response.ts";
import { Outlet } from "./outlet.ts";
import { withTimeout } from "../shared/deadline.ts";

/** The address that an app listens on. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The current user of an upstream connection. */
export interface UpstreamUser {
  upstreamData(bytes: Buffer): void;
  /** The app accepts more bytes again. */
  upstreamReady(): void;
  /** `error` is set unless the app closed the connection cleanly. */
  upstreamClosed(error: Error | undefined): void;
}

const CONNECT_MS = 5_000;

/** A connection to an app (the upstream), used by one request at a time. */
export class UpstreamConnection implements Timed {
  readonly address: Address;
  readonly responses = new LatestResponse();
  user: UpstreamUser | undefined;
  deadline = Infinity;
  /** The time since which it is idle. */
  idleSince = 0;
  /** Called when the connection is closed, with or without a user. */
  onEnd: (() => void) | undefined;
  #socket!: Socket<UpstreamConnection>;
  #outlet!: Outlet;
  #held = false;

  private constructor(address: Address) {
    this.address = address;
  }

  /** Connects; rejects after a timeout of 5 s. */
  static async open(address: Address): Promise<UpstreamConnection> {
    const connection = new UpstreamConnection(address);
    const { host: hostname, port } = address;
    const connecting = Bun.connect<UpstreamConnection>({ hostname, port, data: connection, socket: HANDLERS });
    try {
      await withTimeout(CONNECT_MS, connecting, () => new Error("the app did not accept a connection in time"));
      return connection;
    } catch (error) {
      connecting.then(
        (socket) => socket.terminate(),
        () => {},
      );
      throw error;
    }
  }

  get open(): boolean {
    return this.#socket.readyState > 0;
  }

  write(bytes: Buffer): boolean {
    return this.#outlet.write(bytes);
  }

  /** Writes a text, one byte per character. */
  writeText(text: string): boolean {
    return this.#outlet.writeText(text);
  }

  hold(): void {
    this.#held = true;
    this.#socket.pause();
  }

  proceed(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#socket.resume();
  }

  /** Closes the connection cleanly, or resets it if there are unsent bytes; does not notify its user. */
  end(): void {
    if (!this.#outlet.empty) return this.destroy();
    this.user = undefined;
    this.proceed();
    this.#socket.end();
  }

  /** Resets the connection; does not notify its user. */
  destroy(): void {
    this.user = undefined;
    this.#socket.terminate();
  }

  expire(): void {
    this.destroy();
  }

  connected(socket: Socket<UpstreamConnection>): void {
    this.#socket = socket;
    this.#outlet = new Outlet(socket);
  }

  received(bytes: Buffer): void {
    if (this.user) this.user.upstreamData(bytes);
    // An app that sends data without a request cannot be trusted with another one.
    else this.destroy();
  }

  writable(): void {
    if (!this.#outlet.empty && this.#outlet.flush()) this.user?.upstreamReady();
  }

  closed(error: Error | undefined): void {
    const user = this.user;
    this.user = undefined;
    this.onEnd?.();
    user?.upstreamClosed(error);
  }
}

const HANDLERS: SocketHandler<UpstreamConnection> = {
  open: (socket) => socket.data.connected(socket),
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.writable(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => {
    socket.data.closed(error);
    socket.terminate();
  },
  connectError() {},
};
