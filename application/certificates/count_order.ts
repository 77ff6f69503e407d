import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrder } from "../../domain/certificates/certificate_order.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Attempts } from "../../ports/identity/attempts.ts";
import type { Log } from "../../ports/system/log.ts";
import { isOrderLost } from "./held_order.ts";
import { renewalLimits } from "./renewal_limits.ts";

export interface CountOrderPorts {
  readonly attempts: Attempts;
  readonly certificates: Certificates;
  readonly log: Log;
}

/**
 * Carries out an order as one of the certificates that its host name may get. The first order of a domain rejects with a
 * `throttled` failure before it begins when there were too many. An order that fails is not counted.
 */
export function countOrder(ports: CountOrderPorts) {
  const { certificates, log } = ports;
  const limits = renewalLimits(ports);
  return async function (order: CertificateOrder, carryOut: () => Promise<Certificate>): Promise<Certificate> {
    const { hostname, progress } = order;
    // What the authority has accepted is completed, and a renewal is never late because of a limit of ours.
    const isFirst = (progress?.url ?? null) === null && (await certificates.find(hostname)) === undefined;
    const isCounted = await limits.begin(order, { isFirst });
    try {
      return await carryOut();
    } catch (error) {
      // Of a domain that was removed meanwhile, the authority may have issued a certificate that nobody knows.
      if (isCounted && !isOrderLost(error)) await giveBack(hostname);
      throw error;
    }
  };

  async function giveBack(hostname: string): Promise<void> {
    try {
      await limits.giveBack(hostname);
    } catch (error) {
      log.write("warn", "A failed order still counts as a certificate", { hostname, ...loggedError(error) });
    }
  }
}
