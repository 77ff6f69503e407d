import { createSecureContext, type SecureContext } from "node:tls";
import { bareHost } from "../../../domain/deployments/route_table.ts";
import type { EdgeCertificate } from "../../../ports/domains/edge.ts";
import { assertPresentable, notPresentable } from "../../shared/presentable_certificate.ts";

/** The oldest version of TLS that is spoken. */
export const MIN_VERSION = "TLSv1.2";

/** The certificates of host names, each prepared once for all handshakes. */
export class PresentedCertificates {
  readonly #contexts = new Map<string, SecureContext>();

  /** Replaces the certificate of a host, or removes it. Throws a `Failure` if it is unusable; the former one stays. */
  present(hostname: string, certificate: EdgeCertificate | null): void {
    const name = bareHost(hostname);
    if (certificate) this.#contexts.set(name, contextOf(certificate));
    else this.#contexts.delete(name);
  }

  /** Returns whether a host, with or without a port and in any case, has a certificate. */
  has(host: string): boolean {
    return this.#contexts.size > 0 && (this.#contexts.has(host) || this.#contexts.has(bareHost(host)));
  }

  /** Returns what to present to a client that asks for this server name (SNI). */
  contextFor(serverName: string): SecureContext | undefined {
    return this.#contexts.get(bareHost(serverName));
  }
}

/** Throws a `Failure` unless the certificate can be presented. */
export function assertUsable(certificate: EdgeCertificate): void {
  contextOf(certificate);
}

function contextOf(certificate: EdgeCertificate): SecureContext {
  assertPresentable(certificate);
  try {
    return createSecureContext({ cert: certificate.chain, key: certificate.key.reveal(), minVersion: MIN_VERSION });
  } catch {
    throw notPresentable(certificate.hostname, "the TLS library refuses it");
  }
}
