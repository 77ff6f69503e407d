import { Failure, notFound } from "../failure.ts";
import type { CallerCredential, Grant, Narrowing, Principal, Role } from "./permission.ts";

/** Owns projects, servers and everything else; people belong to it as members. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly createdAt: Date;
}

/** A person; `founder` is the first owner of the installation. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly founder: boolean;
  readonly hasPassword: boolean;
  readonly createdAt: Date;
}

/** A user's membership in one organization. */
export interface Member {
  readonly userId: string;
  readonly organizationId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
  readonly createdAt: Date;
}

/** A pending invitation to an organization. */
export interface Invitation {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A credential for programs, without its secret. */
export interface AccessToken {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly name: string;
  readonly narrowing: Narrowing | null;
  /** Whether it links a self-hosted installation to the hosted cloud; never narrowed by itself. */
  readonly link: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** The identity behind a presented credential, before an organization is chosen. */
export interface Identity {
  readonly userId: string;
  readonly founder: boolean;
  readonly credential: CallerCredential;
  readonly expiresAt: Date | null;
  readonly narrowing: Narrowing | null;
  /** The organization that a token is bound to; a session chooses among its memberships. */
  readonly boundTo: string | null;
  readonly memberships: readonly Membership[];
}

export interface Membership {
  readonly organizationId: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
}

/**
 * Returns the principal that acts in one organization: the given one, else the token's own or the first joined. Throws
 * `not_found` for an organization that the credential does not reach, `unauthenticated` if the membership has ended.
 */
export function actIn(identity: Identity, organizationId: string | null): Principal {
  if (identity.boundTo && (organizationId ?? identity.boundTo) !== identity.boundTo) throw notFound("organization");
  const wanted = identity.boundTo ?? organizationId;
  const membership =
    wanted !== null
      ? identity.memberships.find((candidate) => candidate.organizationId === wanted)
      : identity.memberships[0];
  if (!membership) {
    if (identity.boundTo || identity.memberships.length === 0) {
      throw new Failure("unauthenticated", "unauthenticated", "Cannot identify the caller: its membership ended");
    }
    throw notFound("organization");
  }
  const { userId, founder, credential, narrowing, expiresAt } = identity;
  return { userId, founder, credential, narrowing, expiresAt, ...membership };
}

const EMAIL = /^[^\s@\p{Cc}<>,;:"()[\]\\]{1,64}@[^\s@\p{Cc}<>,;:"()[\]\\]{1,255}$/u;

/** Normalizes an e-mail address for comparison; `undefined` if it is not valid. */
export function normalEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase().normalize("NFC");
  return EMAIL.test(email) ? email : undefined;
}
