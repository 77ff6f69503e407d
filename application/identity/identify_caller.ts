import { actIn } from "../../domain/identity/identity.ts";
import { type Principal, unauthenticated } from "../../domain/identity/permission.ts";
import { fingerprint } from "../../domain/identity/token.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Identities } from "../../ports/identity/identities.ts";

/** What a request shows of its caller. */
export interface Credential {
  readonly kind: "token" | "session";
  readonly value: string;
  /** The organization the request names, if it does. */
  readonly organizationId: string | null;
}

/** Turns a presented credential into a principal, or refuses it. */
export function identifyCaller({ clock, identities }: { readonly clock: Clock; readonly identities: Identities }) {
  return async function ({ kind, value, organizationId }: Credential): Promise<Principal> {
    const identity = await identities.find(kind, fingerprint(value));
    const now = clock.now();
    if (!identity || (identity.expiresAt && identity.expiresAt <= now)) throw unauthenticated();
    identities.used(identity.credential, now);
    return actIn(identity, organizationId);
  };
}
