import type {
  BackupDestination,
  CredentialTargets,
  DestinationCredentials,
  DestinationSettings,
} from "../../domain/backups/destination.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** A whole new version of a destination's changeable parts; an absent credential stays, a `null` one is cleared. */
export interface DestinationChange {
  readonly name: string;
  /** Absent: as it is. */
  readonly isDefault?: boolean | undefined;
  readonly settings: DestinationSettings;
  readonly credentials: Partial<DestinationCredentials>;
  /** Of all credentials as they are after the change. */
  readonly credentialTargets: CredentialTargets;
  /** What was found out before does not count any more. */
  readonly moved: boolean;
  readonly at: Date;
}

/** How a preflight of a destination ended. */
export interface DestinationCheck {
  readonly at: Date;
  readonly error: string | null;
  /** Recorded only where none is recorded yet. */
  readonly hostKey: string | null;
  /** Keys of probes that could not be removed, by this preflight or an earlier one. */
  readonly leftProbes: readonly string[];
}

/**
 * Where backup destinations are kept, apart by organization, with their secrets encrypted at rest. Names are unique in an organization (`nameKey`), and at most one
 * destination is the default; both also for changes at the same time.
 */
export interface BackupDestinations {
  /** Newest first; `ids` limits the list. */
  list(
    organizationId: string,
    filter: { readonly ids?: readonly string[] },
    page: Page,
  ): Promise<Listing<BackupDestination>>;
  find(organizationId: string, id: string): Promise<BackupDestination | undefined>;
  /**
   * The secrets of a destination that is still at this revision; resolves to `undefined` otherwise, so that secrets are
   * never combined with settings of another time. Rejects with code `secret_unreadable` when one cannot be decrypted.
   */
  credentials(
    organizationId: string,
    { id, revision }: Pick<BackupDestination, "id" | "revision">,
  ): Promise<DestinationCredentials | undefined>;
  /** Stores a destination, as the only default if it says so. Rejects with an `invalid` failure, code `name_taken`. */
  create(destination: BackupDestination, credentials: DestinationCredentials): Promise<void>;
  /**
   * Changes a destination that is still at this revision and still has this host key, which a preflight records without
   * a new revision; resolves to `undefined` otherwise. Rejects like `create`.
   */
  change(
    organizationId: string,
    { id, revision, sshHostKey }: Pick<BackupDestination, "id" | "revision" | "sshHostKey">,
    change: DestinationChange,
  ): Promise<BackupDestination | undefined>;
  /** Records a preflight of this revision; a destination that changed since stays as it is. */
  checked(
    organizationId: string,
    { id, revision }: Pick<BackupDestination, "id" | "revision">,
    check: DestinationCheck,
  ): Promise<void>;
  remove(organizationId: string, id: string): Promise<boolean>;
}
