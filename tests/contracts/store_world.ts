import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { Attempts } from "../../ports/identity/attempts.ts";
import type { AuditLog } from "../../ports/identity/audit_log.ts";
import type { BackupDestinations } from "../../ports/backups/backup_destinations.ts";
import type { AuthorityAccounts } from "../../ports/domains/authority_accounts.ts";
import type { CertificateOrders } from "../../ports/domains/certificate_orders.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { CloudLinks } from "../../ports/cloud/cloud_links.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";
import type { DeployKeys } from "../../ports/projects/deploy_keys.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { DeploymentHistory } from "../../ports/deployments/deployment_history.ts";
import type { DeploymentQueue } from "../../ports/deployments/deployment_queue.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { GitHostPorts } from "../../ports/githost/githost_ports.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { IdempotentAnswers } from "../../ports/system/idempotent_answers.ts";
import type { Identities } from "../../ports/identity/identities.ts";
import type { Installation } from "../../ports/identity/installation.ts";
import type { Invitations } from "../../ports/identity/invitations.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Members } from "../../ports/identity/members.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { RuntimeLogs } from "../../ports/services/runtime_logs.ts";
import type { ServerOwners } from "../../ports/servers/server_owners.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import type { ServiceHealth } from "../../ports/system/service_health.ts";
import type { Sessions } from "../../ports/identity/sessions.ts";
import type { Tokens } from "../../ports/identity/tokens.ts";
import type { UploadSessions } from "../../ports/projects/upload_sessions.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Variables } from "../../ports/projects/variables.ts";

/** The stores of the git host connection. */
type GitHostStores = Pick<
  GitHostPorts,
  | "commitReports"
  | "connectAttempts"
  | "gitHostChoices"
  | "appInstallations"
  | "linkedProjects"
  | "oauthAccounts"
  | "pullRequests"
  | "repositoryHooks"
  | "webhookDeliveries"
>;

/** All stores over the same data, which need not be empty. */
export interface StoreWorld extends GitHostStores, Partial<AsyncDisposable> {
  readonly adoptions: Adoptions;
  readonly attempts: Attempts;
  readonly auditLog: AuditLog;
  readonly backupDestinations: BackupDestinations;
  readonly authorityAccounts: AuthorityAccounts;
  readonly certificateOrders: CertificateOrders;
  readonly certificates: Certificates;
  readonly cloudLinks: CloudLinks;
  readonly serviceSets: ServiceSets;
  readonly deployKeys: DeployKeys;
  readonly deploymentEvents: DeploymentEvents;
  readonly deploymentHistory: DeploymentHistory;
  readonly deploymentQueue: DeploymentQueue;
  readonly deployments: Deployments;
  readonly domains: Domains;
  readonly idempotentAnswers: IdempotentAnswers;
  readonly identities: Identities;
  readonly installation: Installation;
  readonly invitations: Invitations;
  readonly liveReleases: LiveReleases;
  readonly members: Members;
  readonly organizations: Organizations;
  readonly projects: Projects;
  readonly runtimeLogs: RuntimeLogs;
  readonly serverOwners: ServerOwners;
  readonly servers: Servers;
  readonly serviceHealth: ServiceHealth;
  readonly sessions: Sessions;
  readonly tokens: Tokens;
  readonly uploadSessions: UploadSessions;
  readonly users: Users;
  readonly variables: Variables;
  /** The current time of the store's clock, to within a second. */
  now(): Date;
  /** Advances time for everything that the store's clock decides: leases, windows, expiry. */
  elapse(ms: number): Promise<void>;
  /** The same data as seen by another process. */
  readonly elsewhere: Pick<
    StoreWorld,
    | "authorityAccounts"
    | "certificateOrders"
    | "certificates"
    | "commitReports"
    | "serviceSets"
    | "deploymentEvents"
    | "deploymentQueue"
    | "deployments"
    | "identities"
    | "liveReleases"
    | "pullRequests"
    | "runtimeLogs"
  >;
}

/** The ports that a suite uses, with the disposal of their world. */
export type WorldOf<Port extends keyof StoreWorld> = Pick<StoreWorld, Port> & Partial<AsyncDisposable>;
