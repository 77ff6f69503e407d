import { actFor } from "../../domain/cloud/acting_member.ts";
import { actIn } from "../../domain/identity/identity.ts";
import { type Principal, unauthenticated } from "../../domain/identity/permission.ts";
import { fingerprint } from "../../domain/identity/token.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Identities } from "../../ports/identity/identities.ts";

/** The credential that a request presents. */
export interface Credential {
  readonly kind: "token" | "session";
  readonly value: string;
  /** The organization that the request names, if any. */
  readonly organizationId: string | null;
  /** The header that names the member of a linked installation, if the request has it. */
  readonly actingMember: string | null;
}

/**
 * Authenticates a credential and returns its principal; throws `unauthenticated` for an unknown or expired one. Only with
 * a link token does the principal act for the member that the request names.
 */
export function identifyCaller({ clock, identities }: { readonly clock: Clock; readonly identities: Identities }) {
  return async function ({ kind, value, organizationId, actingMember }: Credential): Promise<Principal> {
    const identity = await identities.find(kind, fingerprint(value));
    const now = clock.now();
    if (!identity || (identity.expiresAt && identity.expiresAt <= now)) throw unauthenticated();
    identities.used(identity.credential, now);
    return actFor(actIn(identity, organizationId), actingMember);
  };
}
