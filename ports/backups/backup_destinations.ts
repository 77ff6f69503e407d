import type {
  BackupDestination,
  CredentialTargets,
  DestinationCredentials,
  DestinationSettings,
} from "../../domain/backups/destination.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** New values of a destination's mutable fields. An absent credential stays; `null` clears it. */
export interface DestinationChange {
  readonly name: string;
  /** Absent: unchanged. */
  readonly isDefault?: boolean | undefined;
  readonly settings: DestinationSettings;
  readonly credentials: Partial<DestinationCredentials>;
  /** Of all credentials, after the change. */
  readonly credentialTargets: CredentialTargets;
  /** Whether the location changed, which invalidates the results of earlier checks. */
  readonly moved: boolean;
  readonly at: Date;
}

/** The result of a preflight check of a destination. */
export interface DestinationCheck {
  readonly at: Date;
  readonly error: string | null;
  /** Recorded only when no host key is recorded yet. */
  readonly hostKey: string | null;
  /** Keys of probe objects that could not be removed, by this preflight or an earlier one. */
  readonly leftProbes: readonly string[];
}

/**
 * Stores backup destinations per organization, with their secrets encrypted at rest. Names are unique in an
 * organization (`nameKey`) and at most one destination is the default, even under concurrent changes.
 */
export interface BackupDestinations {
  /** Newest first. `ids` filters the list. */
  list(
    organizationId: string,
    filter: { readonly ids?: readonly string[] },
    page: Page,
  ): Promise<Listing<BackupDestination>>;
  find(organizationId: string, id: string): Promise<BackupDestination | undefined>;
  /**
   * Returns the secrets of a destination that is still at this revision, else `undefined`, so that secrets are never
   * combined with settings of another revision. Rejects with code `secret_unreadable` when one cannot be decrypted.
   */
  credentials(
    organizationId: string,
    { id, revision }: Pick<BackupDestination, "id" | "revision">,
  ): Promise<DestinationCredentials | undefined>;
  /**
   * Stores a destination, as the only default if it is marked so. Rejects with an `invalid` failure, code `name_taken`.
   */
  create(destination: BackupDestination, credentials: DestinationCredentials): Promise<void>;
  /**
   * Changes a destination that is still at this revision and still has this host key, which a preflight records without
   * a new revision. Returns `undefined` otherwise. Rejects like `create`.
   */
  change(
    organizationId: string,
    { id, revision, sshHostKey }: Pick<BackupDestination, "id" | "revision" | "sshHostKey">,
    change: DestinationChange,
  ): Promise<BackupDestination | undefined>;
  /** Records a preflight of this revision. Does nothing when the destination changed since. */
  checked(
    organizationId: string,
    { id, revision }: Pick<BackupDestination, "id" | "revision">,
    check: DestinationCheck,
  ): Promise<void>;
  remove(organizationId: string, id: string): Promise<boolean>;
}
