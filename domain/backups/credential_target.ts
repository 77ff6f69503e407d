import {
  BOUND_FIELDS,
  type BoundField,
  type CredentialTargets,
  type DestinationCredentials,
  type DestinationKind,
  type DestinationSettings,
} from "./destination.ts";

const NO_TARGETS = Object.fromEntries(BOUND_FIELDS.map((field) => [field, null])) as CredentialTargets;

/** Returns the machine or service that a destination's credentials are sent to; `null` if its kind has none. */
export function credentialTarget(
  kind: DestinationKind,
  settings: Pick<DestinationSettings, "endpoint" | "sshHost" | "sshPort">,
): string | null {
  switch (kind) {
    case "s3_compatible":
      // Region and bucket only select among the host names of the same provider.
      return settings.endpoint === null ? "Amazon S3" : new URL(settings.endpoint).origin;
    case "sftp":
      return sshTarget(settings);
    case "platform_server":
    case "local":
      return null;
  }
}

/** Returns host and port of an SSH server; the host name is case-insensitive. */
export function sshTarget({ sshHost, sshPort }: Pick<DestinationSettings, "sshHost" | "sshPort">): string {
  const host = (sshHost ?? "").toLowerCase();
  return `${host.includes(":") ? `[${host}]` : host}:${sshPort ?? 22}`;
}

/** Returns the targets of a destination's credentials after some were set for a target or cleared. */
export function bindCredentials(
  given: Partial<DestinationCredentials>,
  target: string | null,
  former: CredentialTargets = NO_TARGETS,
): CredentialTargets {
  const bound = BOUND_FIELDS.filter((field) => given[field] !== undefined);
  return { ...former, ...Object.fromEntries(bound.map((field) => [field, given[field] ? target : null])) };
}

/** Returns the stored credentials that were set for another target than the current one. */
export function misplacedCredentials(
  credentials: DestinationCredentials,
  targets: CredentialTargets,
  target: string | null,
): readonly BoundField[] {
  return BOUND_FIELDS.filter((field) => credentials[field] !== null && targets[field] !== target);
}
