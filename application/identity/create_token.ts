import { invalidField } from "../../domain/failure.ts";
import { readName } from "../../domain/given_name.ts";
import { newId } from "../../domain/id.ts";
import type { AccessToken } from "../../domain/identity/identity.ts";
import {
  allowsSomewhere,
  coversGrant,
  forbidden,
  type Grant,
  type Permission,
  type Principal,
  refuseNarrowed,
} from "../../domain/identity/permission.ts";
import { fingerprint, newToken } from "../../domain/identity/token.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Tokens } from "../../ports/identity/tokens.ts";

export interface TokenInput {
  readonly name: string;
  readonly expiresAt?: Date | undefined;
  readonly permissions?: readonly Permission[] | undefined;
  readonly grants?: readonly Grant[] | undefined;
}

/**
 * Creates a token for the caller that has no more permissions and no later expiry than the credential in use. Its text
 * is returned only here.
 */
export function createToken({ clock, tokens }: { readonly clock: Clock; readonly tokens: Tokens }) {
  return async function (
    by: Principal,
    input: TokenInput,
  ): Promise<{ readonly token: AccessToken; readonly text: string }> {
    refuseNarrowed(by);
    const createdAt = clock.now();
    const name = readName(input.name, "give the token a name");
    const narrowing = narrowingOf(by, input);
    const limit = by.credential.kind === "token" ? by.expiresAt : null;
    const expiresAt = input.expiresAt ?? limit;
    if (expiresAt && expiresAt <= createdAt) throw invalidField("expiresAt", "give a time in the future");
    if (expiresAt && limit && expiresAt > limit) {
      throw invalidField("expiresAt", "the token in use ends earlier, and a token cannot outlive the one that made it");
    }
    const text = newToken();
    const { organizationId, userId } = by;
    const token = {
      id: newId("tok", createdAt),
      organizationId,
      userId,
      name,
      narrowing,
      createdAt,
      expiresAt,
      lastUsedAt: null,
    };
    await tokens.create(token, fingerprint(text));
    return { token, text };
  };
}

function narrowingOf(by: Principal, { permissions, grants }: TokenInput): AccessToken["narrowing"] {
  if (!permissions && !grants) return null;
  for (const permission of permissions ?? []) {
    if (!allowsSomewhere(by, permission)) throw forbidden(permission);
  }
  for (const grant of grants ?? []) {
    if (!coversGrant(by, grant)) throw forbidden(`${grant.resource}:${grant.action}`);
  }
  return { permissions: permissions ?? [], grants: grants ?? [] };
}
