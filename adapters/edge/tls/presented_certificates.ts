import { createSecureContext, type SecureContext } from "node:tls";
import { bareHost } from "../../../domain/deployments/route_table.ts";
import { loggedError } from "../../../domain/logged_error.ts";
import type { EdgeCertificate } from "../../../ports/domains/edge.ts";
import type { Log } from "../../../ports/system/log.ts";
import { assertPresentable, notPresentable } from "../../shared/presentable_certificate.ts";

/** The oldest version of TLS that is spoken. */
export const MIN_VERSION = "TLSv1.2";

/** The certificates of host names, each prepared once for all handshakes. */
export class PresentedCertificates {
  #contexts = new Map<string, SecureContext>();

  /** Replaces the certificates of all hosts. Throws a `Failure` if one is unusable; all former ones stay. */
  load(certificates: readonly EdgeCertificate[]): void {
    this.#contexts = new Map(certificates.map((each) => [bareHost(each.hostname), contextOf(each)]));
  }

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

/** Returns the certificates that can be presented, and logs the others: one must not keep the rest from visitors. */
export function usable(certificates: readonly EdgeCertificate[], log?: Log): readonly EdgeCertificate[] {
  return certificates.filter((certificate) => {
    try {
      assertUsable(certificate);
      return true;
    } catch (error) {
      const { hostname } = certificate;
      log?.write("warn", "A certificate cannot be presented", { hostname, ...loggedError(error) });
      return false;
    }
  });
}

function contextOf(certificate: EdgeCertificate): SecureContext {
  assertPresentable(certificate);
  try {
    return createSecureContext({ cert: certificate.chain, key: certificate.key.reveal(), minVersion: MIN_VERSION });
  } catch {
    throw notPresentable(certificate.hostname, "the TLS library refuses it");
  }
}
