import { newId } from "../../domain/id.ts";
import { fingerprint, newToken } from "../../domain/identity/token.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Installation } from "../../ports/identity/installation.ts";

export const FIRST_EMAIL = "owner@localhost";

/** The result of claiming: `shownToken` is a generated token, to be printed once. */
export interface Claimed {
  readonly first: boolean;
  readonly shownToken: string | undefined;
}

/**
 * Ensures that a first owner with a token exists. A configured token replaces the former one; without one, the first
 * start generates a random token.
 */
export function claimInstallation({
  clock,
  installation,
}: {
  readonly clock: Clock;
  readonly installation: Installation;
}) {
  return async function (configuredToken: string | undefined): Promise<Claimed> {
    if (!(await installation.founder())) {
      const text = configuredToken ?? newToken();
      if (await installation.claim(await firstOwner(clock.now(), text))) {
        return { first: true, shownToken: configuredToken ? undefined : text };
      }
    }
    if (configuredToken) await installation.replaceFounderToken(fingerprint(configuredToken));
    return { first: false, shownToken: undefined };
  };
}

async function firstOwner(at: Date, token: string) {
  const organization = { id: newId("org", at), name: "Default", slug: "default", createdAt: at };
  const user = {
    id: newId("usr", at),
    email: FIRST_EMAIL,
    name: "Owner",
    founder: true,
    hasPassword: false,
    createdAt: at,
  };
  return {
    organization,
    user,
    token: {
      id: newId("tok", at),
      organizationId: organization.id,
      userId: user.id,
      name: "First owner",
      narrowing: null,
      link: false,
      createdAt: at,
      expiresAt: null,
      lastUsedAt: null,
    },
    tokenFingerprint: fingerprint(token),
  };
}
