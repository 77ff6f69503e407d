import type { CarryOutOrderPorts } from "../application/certificates/carry_out_order.ts";
import { followCertificates, type FollowCertificatesPorts } from "../application/certificates/follow_certificates.ts";
import { watchCertificateOrders } from "../application/certificates/watch_certificate_orders.ts";
import type { Config } from "../config.ts";
import { loggedError } from "../domain/logged_error.ts";

/**
 * Loads the certificates and proofs into the edge and keeps them in sync, and orders certificates unless that is off.
 * `ended` resolves once the signal has aborted and no order is under way.
 */
export async function startCertificates(
  world: FollowCertificatesPorts & CarryOutOrderPorts,
  { acmeDirectoryUrl }: Pick<Config, "acmeDirectoryUrl">,
  signal: AbortSignal,
) {
  const { certificates, log } = world;
  const follow = followCertificates(world);
  const followed = (hostname: string | null) =>
    follow(hostname).catch((error: unknown) =>
      log.write("warn", "The edge could not follow a certificate", { ...loggedError(error) }),
    );
  const unsubscribe = certificates.onChange(followed);
  await followed(null);
  const orders = acmeDirectoryUrl === undefined ? undefined : watchCertificateOrders(world)(signal);
  return {
    async ended(): Promise<void> {
      await orders;
      unsubscribe();
    },
  };
}
