import { invalidField } from "../failure.ts";
import { bindCredentials, credentialTarget, sshTarget } from "./credential_target.ts";
import {
  type BackupDestination,
  CREDENTIAL_FIELDS,
  type CredentialTargets,
  type DestinationCredentials,
  type DestinationKind,
  type DestinationSettings,
} from "./destination.ts";
import { isCredential, readKind, refuseForeignFields, refuseMissingFields } from "./destination_fields.ts";
import { readDestinationName, readSettings } from "./destination_values.ts";

type Nullable<T> = { readonly [Field in keyof T]?: T[Field] | null | undefined };

/** What somebody gives for a destination; absent and `null` are the same for a new one, and mean "keep" and "clear" for an old one. */
export interface DestinationWish extends Nullable<DestinationSettings>, Nullable<DestinationCredentials> {
  readonly name?: string | null | undefined;
  readonly kind?: unknown;
  readonly isDefault?: boolean | null | undefined;
}

/** A destination as it is wished for, with everything that its kind needs. */
export interface DestinationDraft {
  readonly kind: DestinationKind;
  readonly settings: DestinationSettings;
  readonly credentials: DestinationCredentials;
  readonly credentialTargets: CredentialTargets;
}

const NO_SETTINGS: DestinationSettings = {
  endpoint: null,
  region: null,
  bucket: null,
  forcePathStyle: null,
  pathPrefix: null,
  sshHost: null,
  sshPort: null,
  sshUser: null,
  sshHostKey: null,
  serverId: null,
};
const SETTING_FIELDS = Object.keys(NO_SETTINGS) as (keyof DestinationSettings)[];

/** What makes a destination another place: everything but its host key, which only tells that it is the same. */
const TARGET_FIELDS = SETTING_FIELDS.filter((field) => field !== "sshHostKey");

/** Reads a whole new destination, or refuses it naming what is wrong. */
export async function readDraft(wish: DestinationWish): Promise<DestinationDraft> {
  if (typeof wish.kind !== "string") throw invalidField("kind", "it is required");
  const kind = readKind(wish.kind);
  refuseForeignFields(kind, wish);
  refuseMissingFields(kind, wish);
  const credentials = Object.fromEntries(
    CREDENTIAL_FIELDS.map((field) => [field, wish[field] ?? null]),
  ) as DestinationCredentials;
  refuseOddCredentials(wish, credentials);
  const settings = await readSettings(kind, { ...NO_SETTINGS, ...given(wish) });
  const credentialTargets = bindCredentials(credentials, credentialTarget(kind, settings));
  return { kind, settings, credentials, credentialTargets };
}

/**
 * What a wish makes of a destination, or its refusal: what is absent stays, `null` clears, and the whole is read anew.
 * A secret may be cleared even if it is required, and a field that the wish does not mention may be missing: a server
 * that was removed does not block other changes.
 */
export async function readChange(destination: BackupDestination, wish: DestinationWish) {
  if (wish.kind !== undefined) throw invalidField("kind", "it cannot change: create another destination instead");
  const { kind } = destination;
  refuseForeignFields(kind, wish);
  const former = Object.fromEntries(SETTING_FIELDS.map((field) => [field, destination[field]]));
  const wished = { ...(former as unknown as DestinationSettings), ...given(wish) };
  refuseMissingFields(kind, wished, (field) => isCredential(field) || wish[field] === undefined);
  const credentials = Object.fromEntries(
    CREDENTIAL_FIELDS.filter((field) => wish[field] !== undefined).map((field) => [field, wish[field]]),
  ) as Partial<DestinationCredentials>;
  const keeps = (field: "sftpPrivateKey", flag: boolean) => (field in credentials ? credentials[field] !== null : flag);
  refuseOddCredentials(wish, { sftpPrivateKey: keeps("sftpPrivateKey", destination.hasSftpPrivateKey) });
  const settings = await readSettings(kind, { ...wished, ...keyOf(destination, wish, wished) });
  const moved =
    Object.keys(credentials).length > 0 || TARGET_FIELDS.some((field) => settings[field] !== destination[field]);
  return {
    name: wish.name === undefined ? destination.name : readDestinationName(wish.name ?? ""),
    isDefault: wish.isDefault ?? (wish.isDefault === null ? false : undefined),
    settings,
    credentials,
    credentialTargets: bindCredentials(credentials, credentialTarget(kind, settings), destination.credentialTargets),
    moved,
  };
}

/** Another machine has another key: a move forgets the recorded one. */
function keyOf(
  destination: BackupDestination,
  wish: DestinationWish,
  wished: DestinationSettings,
): Pick<DestinationSettings, "sshHostKey"> {
  if (wish.sshHostKey !== undefined) return { sshHostKey: wish.sshHostKey };
  return { sshHostKey: sshTarget(wished) === sshTarget(destination) ? destination.sshHostKey : null };
}

/** The settings that a wish says something about. */
function given(wish: DestinationWish): Partial<DestinationSettings> {
  return Object.fromEntries(
    SETTING_FIELDS.filter((field) => wish[field] !== undefined).map((field) => [field, wish[field]]),
  );
}

function refuseOddCredentials(wish: DestinationWish, has: { readonly sftpPrivateKey: unknown }): void {
  for (const field of CREDENTIAL_FIELDS) {
    if (wish[field]?.reveal() === "") throw invalidField(field, "it is empty: give a value, or null to clear it");
  }
  if (wish.sftpKeyPassphrase && !has.sftpPrivateKey) {
    throw invalidField("sftpKeyPassphrase", 'a passphrase needs a private key: give "sftpPrivateKey"');
  }
}
