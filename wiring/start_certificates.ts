import type { CarryOutOrderPorts } from "../application/certificates/carry_out_order.ts";
import {
  type CertificateState,
  followCertificates,
  type FollowCertificatesPorts,
} from "../application/certificates/follow_certificates.ts";
import { watchCertificateOrders } from "../application/certificates/watch_certificate_orders.ts";
import type { Config } from "../config.ts";
import { loggedError } from "../domain/logged_error.ts";

export interface StartCertificatesOptions extends Pick<Config, "acmeDirectoryUrl" | "mode"> {
  /** Loads the edge: with everything at once, so that it is never without a certificate or proof that it had. */
  readonly load: (state?: CertificateState) => Promise<void>;
}

/**
 * Loads the edge with the certificates and proofs and keeps them in sync, and orders certificates unless that is off.
 * `ended` resolves once the signal has aborted and no order is under way.
 */
export async function startCertificates(
  world: Omit<FollowCertificatesPorts, "mode"> & CarryOutOrderPorts,
  { acmeDirectoryUrl, load, mode }: StartCertificatesOptions,
  signal: AbortSignal,
) {
  const { certificates, log } = world;
  const following = followCertificates({ ...world, mode });
  const failed = (error: unknown) =>
    log.write("warn", "The edge could not follow a certificate", { ...loggedError(error) });
  // Subscribes before the first lookup, so that no change is missed.
  const unsubscribe = certificates.onChange((hostname) => following.follow(hostname).catch(failed));
  let isLoaded = false;
  try {
    await following.begin(async (state) => {
      isLoaded = true;
      await load(state);
    });
  } catch (error) {
    if (isLoaded) throw error;
    failed(error);
    await load();
  }
  const orders = acmeDirectoryUrl === undefined ? undefined : watchCertificateOrders(world)(signal);
  return {
    async ended(): Promise<void> {
      await orders;
      unsubscribe();
    },
  };
}
