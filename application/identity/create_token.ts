import { invalid, invalidField } from "../../domain/failure.ts";
import { readName } from "../../domain/given_name.ts";
import { newId } from "../../domain/id.ts";
import type { AccessToken } from "../../domain/identity/identity.ts";
import {
  allowsSomewhere,
  coversGrant,
  demand,
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
  /** Whether it links a self-hosted installation to this cloud. Defaults to `false`. */
  readonly link?: boolean | undefined;
}

export interface CreateTokenPorts {
  readonly clock: Clock;
  readonly mode: "self-hosted" | "cloud";
  readonly tokens: Tokens;
}

/**
 * Creates a token for the caller that has no more permissions and no later expiry than the credential in use. Its text
 * is returned only here.
 */
export function createToken({ clock, mode, tokens }: CreateTokenPorts) {
  return async function (
    by: Principal,
    input: TokenInput,
  ): Promise<{ readonly token: AccessToken; readonly text: string }> {
    refuseNarrowed(by);
    if (input.link) checkLink(by, input, mode);
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
      link: input.link ?? false,
      createdAt,
      expiresAt,
      lastUsedAt: null,
    };
    await tokens.create(token, fingerprint(text));
    return { token, text };
  };
}

/** Refuses a link token outside of the cloud, to anyone but owners, and with limits of its own. */
function checkLink(by: Principal, { permissions, grants }: TokenInput, mode: CreateTokenPorts["mode"]): void {
  if (mode !== "cloud") {
    const sentence =
      "Cannot make a link token: only the hosted cloud makes link tokens, and this is a self-hosted installation";
    throw invalid("link_tokens_in_cloud_only", sentence);
  }
  demand(by, "organization:admin");
  if (permissions || grants) {
    const advice = "a link token has no permissions or grants of its own: each request brings those of its member";
    throw invalidField("link", advice);
  }
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
