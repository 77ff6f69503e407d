import identity from "./0001_identity.sql" with { type: "text" };
import identitySignals from "./0002_identity_signals.sql" with { type: "text" };
import requests from "./0003_requests.sql" with { type: "text" };
import projects from "./0004_projects.sql" with { type: "text" };
import variableLimits from "./0005_variable_limits.sql" with { type: "text" };
import uploadLeases from "./0006_upload_leases.sql" with { type: "text" };
import retention from "./0007_retention.sql" with { type: "text" };
import deployments from "./0008_deployments.sql" with { type: "text" };
import installation from "./0009_installation.sql" with { type: "text" };
import images from "./0010_images.sql" with { type: "text" };
import backupDestinations from "./0011_backup_destinations.sql" with { type: "text" };
import services from "./0012_services.sql" with { type: "text" };
import runtimeLogs from "./0013_runtime_logs.sql" with { type: "text" };
import credentialTargets from "./0014_credential_targets.sql" with { type: "text" };
import databaseClock from "./0015_database_clock.sql" with { type: "text" };
import containerUse from "./0016_container_use.sql" with { type: "text" };
import queuedChoices from "./0017_queued_choices.sql" with { type: "text" };
import uploadTurns from "./0018_upload_turns.sql" with { type: "text" };
import givingWay from "./0019_giving_way.sql" with { type: "text" };
import auditChanges from "./0020_audit_changes.sql" with { type: "text" };
import fastReads from "./0021_fast_reads.sql" with { type: "text" };
import gitHost from "./0022_git_host.sql" with { type: "text" };
import deployKeys from "./0023_deploy_keys.sql" with { type: "text" };
import commitReports from "./0024_commit_reports.sql" with { type: "text" };
import previewVariables from "./0025_preview_variables.sql" with { type: "text" };
import pullRequests from "./0026_pull_requests.sql" with { type: "text" };
import adoptedServices from "./0027_adopted_services.sql" with { type: "text" };
import certificates from "./0028_certificates.sql" with { type: "text" };
import domainClaims from "./0029_domain_claims.sql" with { type: "text" };
import linkTokens from "./0030_link_tokens.sql" with { type: "text" };
import rowSignals from "./0031_row_signals.sql" with { type: "text" };
import projectsInCloud from "./0032_projects_in_cloud.sql" with { type: "text" };

/** A schema migration. Its text never changes once released. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
}

/** Every schema migration, in order. */
export const ALL_MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "identity", text: identity },
  { version: 2, name: "identity_signals", text: identitySignals },
  { version: 3, name: "requests", text: requests },
  { version: 4, name: "projects", text: projects },
  { version: 5, name: "variable_limits", text: variableLimits },
  { version: 6, name: "upload_leases", text: uploadLeases },
  { version: 7, name: "retention", text: retention },
  { version: 8, name: "deployments", text: deployments },
  { version: 9, name: "installation", text: installation },
  { version: 10, name: "images", text: images },
  { version: 11, name: "backup_destinations", text: backupDestinations },
  { version: 12, name: "services", text: services },
  { version: 13, name: "runtime_logs", text: runtimeLogs },
  { version: 14, name: "credential_targets", text: credentialTargets },
  { version: 15, name: "database_clock", text: databaseClock },
  { version: 16, name: "container_use", text: containerUse },
  { version: 17, name: "queued_choices", text: queuedChoices },
  { version: 18, name: "upload_turns", text: uploadTurns },
  { version: 19, name: "giving_way", text: givingWay },
  { version: 20, name: "audit_changes", text: auditChanges },
  { version: 21, name: "fast_reads", text: fastReads },
  { version: 22, name: "git_host", text: gitHost },
  { version: 23, name: "deploy_keys", text: deployKeys },
  { version: 24, name: "commit_reports", text: commitReports },
  { version: 25, name: "preview_variables", text: previewVariables },
  { version: 26, name: "pull_requests", text: pullRequests },
  { version: 27, name: "adopted_services", text: adoptedServices },
  { version: 28, name: "certificates", text: certificates },
  { version: 29, name: "domain_claims", text: domainClaims },
  { version: 30, name: "link_tokens", text: linkTokens },
  { version: 31, name: "row_signals", text: rowSignals },
  { version: 32, name: "projects_in_cloud", text: projectsInCloud },
];
