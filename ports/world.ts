import type { BackupPorts } from "./backups/backup_ports.ts";
import type { CloudPorts } from "./cloud/cloud_ports.ts";
import type { DeploymentPorts } from "./deployments/deployment_ports.ts";
import type { DomainPorts } from "./domains/domain_ports.ts";
import type { GitHostPorts } from "./githost/githost_ports.ts";
import type { IdentityPorts } from "./identity/identity_ports.ts";
import type { MigrationPorts } from "./migration/migration_ports.ts";
import type { ProjectPorts } from "./projects/project_ports.ts";
import type { ServerPorts } from "./servers/server_ports.ts";
import type { ServicePorts } from "./services/service_ports.ts";
import type { SystemPorts } from "./system/system_ports.ts";

/** Every port that the application depends on. A new noun is a folder of ports and a line here. */
export interface World
  extends
    IdentityPorts,
    ProjectPorts,
    DeploymentPorts,
    ServicePorts,
    DomainPorts,
    BackupPorts,
    ServerPorts,
    MigrationPorts,
    CloudPorts,
    GitHostPorts,
    SystemPorts {}
