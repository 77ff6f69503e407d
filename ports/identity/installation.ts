import type { AccessToken, Organization, User } from "../../domain/identity/identity.ts";

/** The first owner with an organization and a token, ready to be stored. */
export interface FirstOwner {
  readonly organization: Organization;
  readonly user: User;
  readonly token: AccessToken;
  readonly tokenFingerprint: string;
}

/** State of the installation that exists from the first start on. */
export interface Installation {
  /**
   * Returns the id that distinguishes this installation from others that share an engine or a machine. It is the same
   * for every process on its database and never changes.
   */
  id(): Promise<string>;
  /** Returns whether any process ever called `noteContainers()`. */
  usesContainers(): Promise<boolean>;
  /**
   * Records, permanently, that containers or images are about to be created. The server manages containers from then
   * on.
   */
  noteContainers(): Promise<void>;
  /**
   * Stores the first owner unless there is one. Returns `true` when it was stored, to exactly one of several concurrent
   * callers.
   */
  claim(owner: FirstOwner): Promise<boolean>;
  /** Returns the first owner, if there is one. */
  founder(): Promise<User | undefined>;
  /** Returns the organization that came with the installation, if the first owner exists. */
  organizationId(): Promise<string | undefined>;
  /** Returns whether a token is the first owner's own, which is shown at the first start or configured. */
  isFounderToken(tokenId: string): Promise<boolean>;
  /**
   * Gives the first owner's own token a new fingerprint, and restores its owner's membership in its organization.
   * Returns `false` when the token already has this fingerprint.
   */
  replaceFounderToken(tokenFingerprint: string): Promise<boolean>;
}
