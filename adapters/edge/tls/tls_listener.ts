import type { AddressInfo } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { addressUnusable } from "../../shared/address_unusable.ts";
import type { Deadlines, Timed } from "../deadlines.ts";
import { MIN_VERSION, type PresentedCertificates } from "./presented_certificates.ts";
import { selfSigned } from "../../shared/self_signed.ts";

/** Where a listener listens. */
export interface TlsAddress {
  readonly host: string;
  readonly port: number;
  /** Whether others may listen on the same port. */
  readonly shared: boolean;
}

/** What a TLS listener needs from its server. */
export interface TlsHost {
  readonly certificates: PresentedCertificates;
  readonly deadlines: Deadlines;
  /** The time for a handshake, in milliseconds. */
  readonly handshakeMs: number;
  /** Called with each connection once its handshake is complete. */
  connected(socket: TLSSocket): void;
}

/** The name in the certificate for hosts that have none; no name of a host can end like this (RFC 2606). */
export const NO_HOST = "slipway.invalid";
const KEEP_ALIVE_PROBE_MS = 60_000;

/** Accepts TLS connections and presents the certificate of the server name that each client asks for (SNI). */
export class TlsListener {
  readonly #server: Server;
  readonly #host: TlsHost;
  #port = 0;
  readonly #handshakes = new Map<TLSSocket, Timed>();

  private constructor(host: TlsHost) {
    this.#host = host;
    this.#server = createServer({
      ...selfSigned(NO_HOST),
      minVersion: MIN_VERSION,
      ALPNProtocols: ["http/1.1"],
      SNICallback: (name, done) => done(null, host.certificates.contextFor(name)),
    });
    this.#server.on("connection", (socket: TLSSocket) => this.#begun(socket));
    this.#server.on("secureConnection", (socket) => this.#completed(socket));
    this.#server.on("tlsClientError", (_, socket) => socket.destroy());
  }

  /** Resolves once it listens; rejects with a `Failure` that names the setting if it cannot. */
  static async open({ host, port, shared }: TlsAddress, server: TlsHost): Promise<TlsListener> {
    const listener = new TlsListener(server);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    listener.#server.once("error", reject);
    listener.#server.listen({ host, port, reusePort: shared }, resolve);
    try {
      await promise;
    } catch (cause) {
      throw addressUnusable({ host, port, setting: "EDGE_TLS_PORT" }, cause);
    }
    listener.#port = (listener.#server.address() as AddressInfo).port;
    return listener;
  }

  get port(): number {
    return this.#port;
  }

  /** Stops accepting connections and drops those whose handshake is not complete; all others stay open. */
  stop(): void {
    this.#server.close();
    for (const socket of this.#handshakes.keys()) socket.destroy();
  }

  #begun(socket: TLSSocket): void {
    const { deadlines, handshakeMs } = this.#host;
    const handshake = { deadline: deadlines.now + handshakeMs, expire: () => void socket.destroy() };
    this.#handshakes.set(socket, handshake);
    deadlines.add(handshake);
    socket.on("error", () => {});
    socket.on("close", () => this.#ended(socket));
  }

  #completed(socket: TLSSocket): void {
    this.#ended(socket);
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    this.#host.connected(socket);
  }

  #ended(socket: TLSSocket): void {
    const handshake = this.#handshakes.get(socket);
    if (!handshake) return;
    this.#handshakes.delete(socket);
    this.#host.deadlines.delete(handshake);
  }
}
