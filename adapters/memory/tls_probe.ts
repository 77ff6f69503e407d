import type { Handshake } from "../../domain/certificates/handshake.ts";
import type { ProbeOptions, TlsProbe } from "../../ports/domains/tls_probe.ts";

/** What a simulated server does in a handshake for a host name. */
export type MemoryTlsServer = (hostname: string) => Handshake;

/** Handshakes with simulated servers. Nothing listens at other addresses. */
export class MemoryTlsProbe implements TlsProbe {
  readonly #servers = new Map<string, MemoryTlsServer>();
  /** The handshakes so far, each as `HOSTNAME at ADDRESS port PORT`. */
  readonly handshakes: string[] = [];

  /** Starts or replaces the server at an address. */
  serve(address: string, port: number, server: MemoryTlsServer): void {
    this.#servers.set(`${address} port ${port}`, server);
  }

  async shakeHands(hostname: string, { address, port, signal }: ProbeOptions): Promise<Handshake> {
    if (signal?.aborted) return { kind: "unreachable", cause: "no_answer" };
    const place = `${address} port ${port}`;
    this.handshakes.push(`${hostname} at ${place}`);
    return this.#servers.get(place)?.(hostname) ?? { kind: "unreachable", cause: "refused" };
  }
}
