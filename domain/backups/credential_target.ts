import {
  BOUND_FIELDS,
  type BoundField,
  type CredentialTargets,
  type DestinationCredentials,
  type DestinationKind,
  type DestinationSettings,
} from "./destination.ts";

const NO_TARGETS = Object.fromEntries(BOUND_FIELDS.map((field) => [field, null])) as CredentialTargets;

/** The machine or service that gets to see a destination's secrets, as text; `null` for kinds that have none. */
export function credentialTarget(
  kind: DestinationKind,
  settings: Pick<DestinationSettings, "endpoint" | "sshHost" | "sshPort">,
): string | null {
  switch (kind) {
    case "s3_compatible":
      // Region and bucket only choose among the host names of the same provider.
      return settings.endpoint === null ? "Amazon S3" : new URL(settings.endpoint).origin;
    case "sftp":
      return sshTarget(settings);
    case "platform_server":
    case "local":
      return null;
  }
}

/** Host and port of an SSH server; two spellings of the same name are the same. */
export function sshTarget({ sshHost, sshPort }: Pick<DestinationSettings, "sshHost" | "sshPort">): string {
  const host = (sshHost ?? "").toLowerCase();
  return `${host.includes(":") ? `[${host}]` : host}:${sshPort ?? 22}`;
}

/** What the secrets of a destination are for, after some of them were given for a target or cleared. */
export function bindCredentials(
  given: Partial<DestinationCredentials>,
  target: string | null,
  former: CredentialTargets = NO_TARGETS,
): CredentialTargets {
  const bound = BOUND_FIELDS.filter((field) => given[field] !== undefined);
  return { ...former, ...Object.fromEntries(bound.map((field) => [field, given[field] ? target : null])) };
}

/** The stored secrets that were given for another target than the present one. */
export function misplacedCredentials(
  credentials: DestinationCredentials,
  targets: CredentialTargets,
  target: string | null,
): readonly BoundField[] {
  return BOUND_FIELDS.filter((field) => credentials[field] !== null && targets[field] !== target);
}
