import type { RuntimeName } from "../domain/projects/project.ts";
import type { CloudAddress } from "../ports/cloud/cloud_api.ts";
import type { UploadLimits } from "../ports/projects/upload_files.ts";
import type { World } from "../ports/world.ts";
import type { LocalBackupRules } from "./backups/check_local_endpoint.ts";
import type { TlsAddress } from "./domains/read_certificate_status.ts";
import type { GitHostSettings } from "./githost/git_host_settings.ts";
import type { LocalSourceRules } from "./projects/check_local_path.ts";
import type { AuditTrail } from "./system/audit_trail.ts";

/** Dependencies of the use cases: every port, plus the operator's settings. */
export interface ApplicationPorts extends World {
  readonly mode: "self-hosted" | "cloud";
  /** The runtime of projects that do not choose one. */
  readonly runtimePreset: RuntimeName | "auto";
  readonly baseDomain: string;
  /** The API's own host name, which no app may use. */
  readonly publicHost: string;
  /** Where the edge is reached over TLS from this machine; `undefined` if that is not known. */
  readonly edgeTls: TlsAddress | undefined;
  readonly githostUrl: string;
  readonly gitHost: GitHostSettings;
  /** The directory of the certificate authority; `undefined` if no certificates are ordered. */
  readonly acmeDirectoryUrl: string | undefined;
  /** The link to the hosted cloud that the operator set for the whole installation. */
  readonly cloudPreset: CloudAddress | undefined;
  readonly localSources: LocalSourceRules;
  readonly localBackups: LocalBackupRules;
  readonly uploadLimits: UploadLimits;
  readonly auditTrail: AuditTrail;
}
