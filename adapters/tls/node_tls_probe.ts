import type { X509Certificate } from "node:crypto";
import tls, { connect, type TLSSocket } from "node:tls";
import type { Handshake } from "../../domain/certificates/handshake.ts";
import type { ProbeOptions, TlsProbe } from "../../ports/domains/tls_probe.ts";
import { chainFault } from "./chain_fault.ts";
import { presentedCertificate } from "./presented_certificate.ts";

/** Settings of handshakes. */
export interface NodeTlsProbeOptions {
  /** PEM certificates of authorities to trust besides Mozilla's and those of `NODE_EXTRA_CA_CERTS`. */
  readonly authorities?: readonly string[];
  /** Timeout of a whole handshake. Defaults to 10 s. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/** Bun has it, but the types of the library do not. */
const { getCACertificates } = tls as typeof tls & { getCACertificates(store: "default"): string[] };

/** Shakes hands by TLS 1.2 and 1.3, as browsers do. */
export class NodeTlsProbe implements TlsProbe {
  readonly #authorities: readonly string[];
  readonly #timeoutMs: number;

  constructor({ authorities = [], timeoutMs = DEFAULT_TIMEOUT_MS }: NodeTlsProbeOptions = {}) {
    this.#authorities = authorities;
    this.#timeoutMs = timeoutMs;
  }

  shakeHands(hostname: string, { address, port, signal }: ProbeOptions): Promise<Handshake> {
    if (signal?.aborted) return Promise.resolve(NO_ANSWER);
    const trusted = () => [...getCACertificates("default"), ...this.#authorities];
    return new Promise((resolve) => {
      const socket = connect({
        host: address,
        port,
        servername: hostname,
        minVersion: "TLSv1.2",
        // A certificate that is refused is still reported. Names are compared by the domain.
        rejectUnauthorized: false,
        checkServerIdentity: () => undefined,
        ...(this.#authorities.length > 0 && { ca: trusted() }),
      });
      let isConnected = false;
      const settle = (handshake: Handshake) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        socket.destroy();
        resolve(handshake);
      };
      const giveUp = () => settle(NO_ANSWER);
      const timer = setTimeout(giveUp, this.#timeoutMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      socket.once("connect", () => (isConnected = true));
      socket.once("secureConnect", () => settle(shown(socket, trusted)));
      // Stays for errors after the end, which would end the process otherwise.
      socket.on("error", (error: unknown) => settle(isConnected ? withoutCertificate(error) : unreachable(error)));
      socket.once("close", () => settle({ kind: "none", cause: "closed" }));
    });
  }
}

const NO_ANSWER: Handshake = { kind: "unreachable", cause: "no_answer" };

function shown(socket: TLSSocket, trusted: () => readonly string[]): Handshake {
  try {
    const leaf: X509Certificate | undefined = socket.getPeerX509Certificate();
    if (!leaf) return { kind: "none", cause: "no_tls" };
    const certificate = presentedCertificate(leaf);
    const error = socket.authorized ? null : codeOf(socket.authorizationError);
    return { kind: "presented", certificate, chainFault: chainFault(leaf, error, trusted) };
  } catch {
    return { kind: "none", cause: "no_tls" };
  }
}

function withoutCertificate(error: unknown): Handshake {
  const code = codeOf(error);
  if (!code.startsWith("ERR_SSL_")) return { kind: "none", cause: "closed" };
  if (/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/.test(code)) return { kind: "none", cause: "outdated_tls" };
  return { kind: "none", cause: code.includes("ALERT") ? "declined" : "no_tls" };
}

function unreachable(error: unknown): Handshake {
  const code = codeOf(error);
  const cause = code === "ECONNREFUSED" ? "refused" : code === "ETIMEDOUT" ? "no_answer" : "no_route";
  return { kind: "unreachable", cause };
}

/** Returns the code of an error. `authorizationError` is the code itself. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
