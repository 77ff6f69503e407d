import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrder } from "../../domain/certificates/certificate_order.ts";
import { newCertificateKey } from "../../domain/certificates/new_certificate_key.ts";
import { renewalTime, retryDelayMs } from "../../domain/certificates/renewal.ts";
import { Failure } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { CertificateAuthority } from "../../ports/domains/certificate_authority.ts";
import type { CertificateOrders } from "../../ports/domains/certificate_orders.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Log } from "../../ports/system/log.ts";
import type { Attempts } from "../../ports/identity/attempts.ts";
import { HeldOrder, isOrderLost, orderLost } from "./held_order.ts";
import { renewalLimits } from "./renewal_limits.ts";

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
 * attempt, and rejects. An order that the signal interrupts is due at once, as far as it is.
 */
export function carryOutOrder(ports: CarryOutOrderPorts) {
  const { certificateAuthority: authority, certificateOrders, certificates, log } = ports;
  const limits = renewalLimits(ports);
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
    await limits.noteIssued(hostname).catch((error: unknown) => {
      log.write("warn", "An issued certificate could not be counted", { hostname, ...loggedError(error) });
    });
    await followed(hostname, "load a certificate");
    return certificate;
  }

  /** Waits until all processes have applied a change. */
  async function followed(hostname: string, what: string): Promise<void> {
    if (await certificates.followed(FOLLOW_MS)) return;
    log.write("warn", `Another server may not ${what} in time: restart the servers that hang`, { hostname });
  }

  /** Stores how an order ended. What could not be stored is taken again once the lease has expired. */
  async function ended({ order, progress }: HeldOrder, error: unknown, isInterrupted: boolean): Promise<void> {
    const { attempts, hostname } = order;
    const { message, retryAfter, code } = failureOf(error);
    const afterMs = isInterrupted ? 0 : retryDelayMs(attempts + 1, { chance: Math.random(), retryAfter });
    if (!isInterrupted) {
      const about = { hostname, attempt: attempts + 1, nextInSeconds: Math.round(afterMs / 1_000) };
      log.write("warn", "A certificate was not issued and will be ordered again", { ...about, ...loggedError(error) });
    }
    try {
      await certificateOrders.retry(order, {
        error: isInterrupted ? null : message,
        afterMs,
        // What the authority has refused is not continued.
        progress: code === "authority_refused" && !isInterrupted ? null : progress,
      });
    } catch (cause) {
      log.write("warn", "The outcome of an order could not be stored", { hostname, ...loggedError(cause) });
    }
  }
}

function failureOf(error: unknown): Pick<Failure, "message" | "retryAfter" | "code"> {
  if (error instanceof Failure) return error;
  return { message: "Something went wrong: the log of the server says what", retryAfter: undefined, code: "internal" };
}

function tooSlow(cause: unknown): Failure {
  const sentence = `Cannot reach the certificate authority: it did not finish within ${ATTEMPT_MS / 60_000} minutes`;
  return new Failure("remote_failed", "authority_unreachable", sentence, { cause });
}
