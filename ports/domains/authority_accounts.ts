import type { Secret } from "../../domain/secret.ts";

/** Stores the keys of this installation's accounts at certificate authorities. */
export interface AuthorityAccounts {
  /**
   * Returns the key of the account at an authority, and stores the offered one if there is none. All processes get the
   * same key.
   */
  key(directoryUrl: string, offered: () => Promise<Secret>): Promise<Secret>;
}
