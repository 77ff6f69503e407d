import type { AccessToken, Organization, User } from "../../domain/identity/identity.ts";

/** The first owner with an organization and a token, as they are to be stored. */
export interface FirstOwner {
  readonly organization: Organization;
  readonly user: User;
  readonly token: AccessToken;
  readonly tokenFingerprint: string;
}

/** What exists from the first start on. */
export interface Installation {
  /** What this installation is told apart by from others that share an engine or a machine; the same for every process on its database, for ever. */
  id(): Promise<string>;
  /** Whether `noteContainers()` was ever called, by any process. */
  usesContainers(): Promise<boolean>;
  /** Notes that something is about to be put into containers or images: from then on they are looked after, for ever. */
  noteContainers(): Promise<void>;
  /** Stores the first owner unless there is one; `true` when it was stored, for exactly one of several callers at once. */
  claim(owner: FirstOwner): Promise<boolean>;
  /** The first owner, if there is one. */
  founder(): Promise<User | undefined>;
  /** Tells whether a token is the first owner's own: the one shown at the first start or configured. */
  isFounderToken(tokenId: string): Promise<boolean>;
  /** Gives the first owner's own token a new fingerprint and its owner a place in its organization again; `false` when it already had it. */
  replaceFounderToken(tokenFingerprint: string): Promise<boolean>;
}
