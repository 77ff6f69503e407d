import type { RuntimeName } from "../domain/projects/project.ts";
import type { UploadLimits } from "../ports/projects/upload_files.ts";
import type { World } from "../ports/world.ts";
import type { LocalBackupRules } from "./backups/check_local_endpoint.ts";
import type { LocalSourceRules } from "./projects/check_local_path.ts";
import type { AuditTrail } from "./system/audit_trail.ts";

/** What use cases are built from: every port, and what the operator has set. */
export interface ApplicationPorts extends World {
  readonly mode: "self-hosted" | "cloud";
  /** What builds and runs projects that do not choose. */
  readonly runtimePreset: RuntimeName | "auto";
  readonly baseDomain: string;
  /** The host name of the API, which no app may have. */
  readonly publicHost: string;
  readonly githostUrl: string;
  readonly localSources: LocalSourceRules;
  readonly localBackups: LocalBackupRules;
  readonly uploadLimits: UploadLimits;
  readonly auditTrail: AuditTrail;
}
