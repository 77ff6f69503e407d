import { didYouMean } from "../did_you_mean.ts";
import { type Failure, invalid, invalidField } from "../failure.ts";
import { CREDENTIAL_FIELDS, type CredentialField, DESTINATION_KINDS, type DestinationKind } from "./destination.ts";
import type { DestinationSettings } from "./destination.ts";

/** A field of a destination that depends on its kind. */
export type KindField = Exclude<keyof DestinationSettings, "pathPrefix"> | CredentialField;

/** Whether a kind requires a field, allows it, or requires at least one of the fields marked `either`. */
type Need = "required" | "optional" | "either";

const FIELDS: Readonly<Record<DestinationKind, Partial<Readonly<Record<KindField, Need>>>>> = {
  s3_compatible: {
    bucket: "required",
    region: "optional",
    endpoint: "optional",
    forcePathStyle: "optional",
    accessKeyId: "required",
    secretAccessKey: "required",
  },
  sftp: {
    sshHost: "required",
    sshPort: "optional",
    sshUser: "required",
    sshHostKey: "optional",
    sftpPassword: "either",
    sftpPrivateKey: "either",
    sftpKeyPassphrase: "optional",
  },
  platform_server: { serverId: "required" },
  local: { endpoint: "required" },
};

const ALL_FIELDS = [...new Set(Object.values(FIELDS).flatMap((fields) => Object.keys(fields)))] as KindField[];

/** Values by field; absent and `null` both mean "not set". */
export type Given = { readonly [Field in KindField]?: unknown };

/** Parses a destination kind, or throws; names `http_upload` as known but not supported. */
export function readKind(word: string): DestinationKind {
  if (word === "http_upload") throw invalidField("kind", `"http_upload" is not supported: use one of ${kindNames()}`);
  const kind = DESTINATION_KINDS.find((known) => known === word);
  if (!kind) throw invalidField("kind", `must be one of ${kindNames()}${didYouMean(word, DESTINATION_KINDS)}`);
  return kind;
}

/** Refuses values for fields that only other kinds have. */
export function refuseForeignFields(kind: DestinationKind, given: Given): void {
  const foreign = ALL_FIELDS.filter((field) => isGiven(given[field]) && FIELDS[kind][field] === undefined);
  if (foreign.length === 0) return;
  throw refused(foreign, (field) => `a destination of the kind "${kind}" has no "${field}": leave it out`);
}

/** Returns the required fields that have no value; of `either` alternatives, only the first. */
export function missingFields(kind: DestinationKind, given: Given): readonly KindField[] {
  const needs = Object.entries(FIELDS[kind]) as [KindField, Need][];
  const required = needs.filter(([field, need]) => need === "required" && !isGiven(given[field]));
  const either = needs.filter(([, need]) => need === "either");
  const lacksAll = either.length > 0 && !either.some(([field]) => isGiven(given[field]));
  return [...required, ...(lacksAll ? either.slice(0, 1) : [])].map(([field]) => field);
}

/** Refuses a destination that lacks fields its kind requires; `may` exempts fields. */
export function refuseMissingFields(
  kind: DestinationKind,
  given: Given,
  may: (field: KindField) => boolean = () => false,
): void {
  const missing = missingFields(kind, given).filter((field) => !may(field));
  if (missing.length > 0) throw refused(missing, (field) => `it is required: ${missingInput(kind, field)}`);
}

/** Returns the advice which field to set, with its alternatives. */
export function missingInput(kind: DestinationKind, field: KindField): string {
  const others = Object.entries(FIELDS[kind]).filter(([name, need]) => need === "either" && name !== field);
  if (FIELDS[kind][field] !== "either") return `give "${field}"`;
  return `give "${field}" or ${others.map(([name]) => `"${name}"`).join(" or ")}`;
}

/** Returns whether a field is a credential. */
export function isCredential(field: string): field is CredentialField {
  return CREDENTIAL_FIELDS.some((credential) => credential === field);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function refused(fields: readonly KindField[], message: (field: KindField) => string): Failure {
  const details = fields.map((field) => ({ path: field, message: message(field) }));
  const sentence = details.map((detail) => `"${detail.path}": ${detail.message}`).join("; ");
  return invalid("invalid_request", `Cannot accept ${sentence}`, { details });
}

function kindNames(): string {
  return DESTINATION_KINDS.join(", ");
}
