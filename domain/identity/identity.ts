import { Failure, notFound } from "../failure.ts";
import type { Grant, Narrowing, Principal, Role } from "./permission.ts";

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

/** A person's place in one organization. */
export interface Member {
  readonly userId: string;
  readonly organizationId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
  readonly createdAt: Date;
}

/** A place in an organization that waits for somebody to take it. */
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
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** What a presented credential stands for, before an organization is chosen. */
export interface Identity {
  readonly userId: string;
  readonly founder: boolean;
  readonly credential: { readonly kind: "token" | "session"; readonly id: string };
  readonly expiresAt: Date | null;
  readonly narrowing: Narrowing | null;
  /** The one organization a token is bound to; a session chooses among the memberships. */
  readonly boundTo: string | null;
  readonly memberships: readonly Membership[];
}

export interface Membership {
  readonly organizationId: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
}

/** Makes an identity act in one organization: the one named, else the token's own or the first joined. */
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

/** Brings an e-mail address to the form it is compared in, or `undefined` when it is none. */
export function normalEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase().normalize("NFC");
  return EMAIL.test(email) ? email : undefined;
}
