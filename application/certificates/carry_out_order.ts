import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrder } from "../../domain/certificates/certificate_order.ts";
import { newCertificateKey } from "../../domain/certificates/new_certificate_key.ts";
import { renewalTime } from "../../domain/certificates/renewal.ts";
import { Failure } from "../../domain/failure.ts";
import type { CertificateAuthority } from "../../ports/domains/certificate_authority.ts";
import type { CertificateOrders } from "../../ports/domains/certificate_orders.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Log } from "../../ports/system/log.ts";
import type { Attempts } from "../../ports/identity/attempts.ts";
import { countOrder } from "./count_order.ts";
import { HeldOrder, isOrderLost, orderLost } from "./held_order.ts";
import { storeFailedOrder } from "./store_failed_order.ts";

export interface CarryOutOrderPorts {
  readonly attempts: Attempts;
  readonly certificateAuthority: CertificateAuthority;
  readonly certificateOrders: CertificateOrders;
  readonly certificates: Certificates;
  readonly log: Log;
}

/** An attempt may take this long. */
const ATTEMPT_MS = 180_000;
/** How long other processes may take to publish a proof or to load a certificate. */
const FOLLOW_MS = 20_000;

/**
 * Carries out an order that this process has taken: makes the key, orders, publishes the proof at the edges of all
 * processes, has the certificate issued, and stores it. How far it is, is stored before each step that cannot be
 * repeated, so that another process completes it with one certificate. A failure is stored with the time of the next
 * attempt, and rejects. The first order of a domain waits until the limits of its host name allow it, before anything is
 * asked of the authority. An order that the signal interrupts is due at once, as far as it is.
 */
export function carryOutOrder(ports: CarryOutOrderPorts) {
  const { certificateAuthority: authority, certificateOrders, certificates, log } = ports;
  const counted = countOrder(ports);
  const ended = storeFailedOrder(ports);
  return async function (order: CertificateOrder, signal: AbortSignal): Promise<Certificate> {
    using held = new HeldOrder(certificateOrders, order);
    const limit = AbortSignal.timeout(ATTEMPT_MS);
    try {
      const certificate = await issued(held, AbortSignal.any([signal, limit, held.lost]));
      log.write("info", "A certificate was issued", {
        hostname: order.hostname,
        issuer: certificate.issuer,
        notAfter: certificate.notAfter.toISOString(),
      });
      return certificate;
    } catch (error) {
      const failure = limit.aborted && !signal.aborted ? tooSlow(error) : error;
      if (!isOrderLost(failure)) await ended(held, failure, signal.aborted);
      throw failure;
    }
  };

  async function issued(held: HeldOrder, signal: AbortSignal): Promise<Certificate> {
    const certificate = await counted(held.order, () => obtained(held, signal));
    await followed(held.order.hostname, "load a certificate");
    return certificate;
  }

  /** Has the certificate issued, and stores it. */
  async function obtained(held: HeldOrder, signal: AbortSignal): Promise<Certificate> {
    const { hostname } = held.order;
    const { key, url } = held.progress ?? { key: await newCertificateKey(), url: null };
    if (!held.progress) await held.keep({ key, url, proof: null });
    const known = url === null ? undefined : await authority.resume(url, { signal });
    const accepted = known ?? (await authority.order(hostname, { signal }));
    await held.keep({ key, ...accepted });
    if (accepted.proof) await followed(hostname, "publish a proof");
    const certificate = await authority.issue({ order: accepted, hostname, key }, { signal });
    const renewAt = renewalTime(certificate, Math.random());
    if (!(await certificateOrders.complete(held.order, certificate, renewAt))) throw orderLost();
    return certificate;
  }

  /** Waits until all processes have applied a change. */
  async function followed(hostname: string, what: string): Promise<void> {
    if (await certificates.followed(FOLLOW_MS)) return;
    log.write("warn", `Another server may not ${what} in time: restart the servers that hang`, { hostname });
  }
}

function tooSlow(cause: unknown): Failure {
  const sentence = `Cannot reach the certificate authority: it did not finish within ${ATTEMPT_MS / 60_000} minutes`;
  return new Failure("remote_failed", "authority_unreachable", sentence, { cause });
}
