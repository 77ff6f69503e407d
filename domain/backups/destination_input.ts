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

/** Input for a destination. When creating, absent and `null` are the same; when updating, they keep and clear. */
export interface DestinationInput extends Nullable<DestinationSettings>, Nullable<DestinationCredentials> {
  readonly name?: string | null | undefined;
  readonly kind?: unknown;
  readonly isDefault?: boolean | null | undefined;
}

/** A validated new destination with everything that its kind needs. */
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

/** The fields that make a destination another place: all but the host key, which only proves its identity. */
const TARGET_FIELDS = SETTING_FIELDS.filter((field) => field !== "sshHostKey");

/** Validates the input for a new destination; throws a failure that names the invalid fields. */
export async function readDraft(input: DestinationInput): Promise<DestinationDraft> {
  if (typeof input.kind !== "string") throw invalidField("kind", "it is required");
  const kind = readKind(input.kind);
  refuseForeignFields(kind, input);
  refuseMissingFields(kind, input);
  const credentials = Object.fromEntries(
    CREDENTIAL_FIELDS.map((field) => [field, input[field] ?? null]),
  ) as DestinationCredentials;
  refuseOddCredentials(input, credentials);
  const settings = await readSettings(kind, { ...NO_SETTINGS, ...given(input) });
  const credentialTargets = bindCredentials(credentials, credentialTarget(kind, settings));
  return { kind, settings, credentials, credentialTargets };
}

/**
 * Applies an update to a destination, or refuses it: absent keeps, `null` clears, and the result is validated as a
 * whole. A required credential may be cleared, and a field that the input does not mention may be missing: a removed
 * server does not block other changes.
 */
export async function readChange(destination: BackupDestination, input: DestinationInput) {
  if (input.kind !== undefined) throw invalidField("kind", "it cannot change: create another destination instead");
  const { kind } = destination;
  refuseForeignFields(kind, input);
  const former = Object.fromEntries(SETTING_FIELDS.map((field) => [field, destination[field]]));
  const merged = { ...(former as unknown as DestinationSettings), ...given(input) };
  refuseMissingFields(kind, merged, (field) => isCredential(field) || input[field] === undefined);
  const credentials = Object.fromEntries(
    CREDENTIAL_FIELDS.filter((field) => input[field] !== undefined).map((field) => [field, input[field]]),
  ) as Partial<DestinationCredentials>;
  const keeps = (field: "sftpPrivateKey", flag: boolean) => (field in credentials ? credentials[field] !== null : flag);
  refuseOddCredentials(input, { sftpPrivateKey: keeps("sftpPrivateKey", destination.hasSftpPrivateKey) });
  const settings = await readSettings(kind, { ...merged, ...keyOf(destination, input, merged) });
  const moved =
    Object.keys(credentials).length > 0 || TARGET_FIELDS.some((field) => settings[field] !== destination[field]);
  return {
    name: input.name === undefined ? destination.name : readDestinationName(input.name ?? ""),
    isDefault: input.isDefault ?? (input.isDefault === null ? false : undefined),
    settings,
    credentials,
    credentialTargets: bindCredentials(credentials, credentialTarget(kind, settings), destination.credentialTargets),
    moved,
  };
}

/** Drops the recorded host key when host or port change: another machine has another key. */
function keyOf(
  destination: BackupDestination,
  input: DestinationInput,
  merged: DestinationSettings,
): Pick<DestinationSettings, "sshHostKey"> {
  if (input.sshHostKey !== undefined) return { sshHostKey: input.sshHostKey };
  return { sshHostKey: sshTarget(merged) === sshTarget(destination) ? destination.sshHostKey : null };
}

/** Returns the settings that an input contains. */
function given(input: DestinationInput): Partial<DestinationSettings> {
  return Object.fromEntries(
    SETTING_FIELDS.filter((field) => input[field] !== undefined).map((field) => [field, input[field]]),
  );
}

function refuseOddCredentials(input: DestinationInput, has: { readonly sftpPrivateKey: unknown }): void {
  for (const field of CREDENTIAL_FIELDS) {
    if (input[field]?.reveal() === "") throw invalidField(field, "it is empty: give a value, or null to clear it");
  }
  if (input.sftpKeyPassphrase && !has.sftpPrivateKey) {
    throw invalidField("sftpKeyPassphrase", 'a passphrase needs a private key: give "sftpPrivateKey"');
  }
}
