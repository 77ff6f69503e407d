import type { Vault } from "../../ports/system/vault.ts";
import { PostgresAttempts } from "./attempts.ts";
import { PostgresAuditLog } from "./audit_log.ts";
import { PostgresBackupDestinations } from "./backup_destinations.ts";
import { PostgresAuthorityAccounts } from "./authority_accounts.ts";
import { PostgresCertificateOrders } from "./certificate_orders.ts";
import { PostgresCertificates } from "./certificates.ts";
import { PostgresCloudLinks } from "./cloud_links.ts";
import { PostgresPullRequests } from "./pull_requests.ts";
import { PostgresCommitReports } from "./commit_reports.ts";
import { PostgresConnectAttempts } from "./connect_attempts.ts";
import { PostgresServiceSets } from "./service_sets.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./database.ts";
import { PostgresDeployKeys } from "./deploy_keys.ts";
import { PostgresDeploymentEvents } from "./deployment_events.ts";
import { PostgresDeploymentHistory } from "./deployment_history.ts";
import { PostgresDeploymentQueue } from "./deployment_queue.ts";
import { PostgresDeployments } from "./deployments.ts";
import { PostgresDomains } from "./domains.ts";
import { PostgresGitHostChoices } from "./git_host_choices.ts";
import { PostgresIdempotentAnswers } from "./idempotent_answers.ts";
import { PostgresIdentities } from "./identities.ts";
import { PostgresInstallation } from "./installation.ts";
import { PostgresAppInstallations } from "./app_installations.ts";
import { PostgresInvitations } from "./invitations.ts";
import { PostgresLinkedProjects } from "./linked_projects.ts";
import { PostgresLiveReleases } from "./live_releases.ts";
import { PostgresMembers } from "./members.ts";
import { PostgresOAuthAccounts } from "./oauth_accounts.ts";
import { PostgresOrganizations } from "./organizations.ts";
import { PostgresProjects } from "./projects.ts";
import { PostgresRepositoryHooks } from "./repository_hooks.ts";
import { PostgresRuntimeLogs } from "./runtime_logs.ts";
import { PostgresSealedRows } from "./sealed_rows.ts";
import { PostgresServers } from "./servers.ts";
import { PostgresServiceHealth } from "./service_health.ts";
import { PostgresSessions } from "./sessions.ts";
import { PostgresSignals } from "./signals.ts";
import { PostgresTokens } from "./tokens.ts";
import { PostgresUploadSessions } from "./upload_sessions.ts";
import { PostgresUsers } from "./users.ts";
import { PostgresAdoptions } from "./adoptions.ts";
import { PostgresServerOwners } from "./server_owners.ts";
import { PostgresVariables } from "./variables.ts";
import { PostgresWebhookDeliveries } from "./webhook_deliveries.ts";
import { assertKeys } from "./vault_keys.ts";

/** The NOTIFY channel on which a process announces that it added a secret key. */
export const KEYS_CHANNEL = "slipway_keys";

export interface PostgresWorldOptions extends DatabaseOptions {
  /** URL of a database that `migrate` brought up to date. */
  readonly url: string;
  /** Encrypts the secrets. Reloaded when another process added a key. */
  readonly vault: Vault & { reload?(): Promise<void> };
  /** Interval of the health check of the listening connection, in milliseconds. */
  readonly beatMs?: number;
  /** Interval at which uses of credentials are written, in milliseconds. */
  readonly usesMs?: number;
}

/**
 * All stores, in PostgreSQL. Disposing flushes pending writes and closes all connections, within seconds even without a
 * database.
 */
export type PostgresWorld = ReturnType<typeof storesOf> & AsyncDisposable;

/**
 * Opens all stores over one database. Rejects with code `wrong_secret_key` when this vault cannot decrypt its secrets.
 */
export async function postgresWorld(options: PostgresWorldOptions): Promise<PostgresWorld> {
  const { url, vault } = options;
  const database = openDatabase(url, options);
  const signals = new PostgresSignals(url, database, options.beatMs);
  const reload = () => vault.reload?.().catch(() => {});
  signals.subscribe(KEYS_CHANNEL, reload);
  signals.onReset(reload);
  const world = storesOf(database, signals, options);
  const close = async () => {
    world.deploymentEvents.close();
    await world.identities.close();
    signals.close();
    await database.close();
  };
  try {
    await assertKeys(database, vault);
  } catch (error) {
    await close();
    throw error;
  }
  return { ...world, [Symbol.asyncDispose]: close };
}

function storesOf(database: Database, signals: PostgresSignals, { vault, usesMs }: PostgresWorldOptions) {
  const projects = new PostgresProjects(database);
  const deployments = new PostgresDeployments(database, vault);
  return {
    attempts: new PostgresAttempts(database),
    auditLog: new PostgresAuditLog(database),
    backupDestinations: new PostgresBackupDestinations(database, vault),
    authorityAccounts: new PostgresAuthorityAccounts(database, vault),
    certificateOrders: new PostgresCertificateOrders(database, signals, vault),
    certificates: new PostgresCertificates(database, signals, vault),
    cloudLinks: new PostgresCloudLinks(database, signals, vault),
    commitReports: new PostgresCommitReports(database, signals),
    pullRequests: new PostgresPullRequests(database, signals),
    connectAttempts: new PostgresConnectAttempts(database, vault),
    serviceSets: new PostgresServiceSets(database, vault),
    database,
    deployKeys: new PostgresDeployKeys(database, vault),
    deploymentEvents: new PostgresDeploymentEvents(database, signals),
    deploymentHistory: new PostgresDeploymentHistory(database),
    deploymentQueue: new PostgresDeploymentQueue(database, signals),
    deployments,
    domains: new PostgresDomains(database),
    gitHostChoices: new PostgresGitHostChoices(database),
    idempotentAnswers: new PostgresIdempotentAnswers(database, vault),
    identities: new PostgresIdentities(database, signals, usesMs),
    installation: new PostgresInstallation(database, signals),
    appInstallations: new PostgresAppInstallations(database),
    invitations: new PostgresInvitations(database, signals),
    members: new PostgresMembers(database, signals),
    oauthAccounts: new PostgresOAuthAccounts(database, vault),
    organizations: new PostgresOrganizations(database, signals),
    linkedProjects: new PostgresLinkedProjects(database),
    liveReleases: new PostgresLiveReleases(database, signals, { projects, deployments }),
    projects,
    repositoryHooks: new PostgresRepositoryHooks(database, vault),
    runtimeLogs: new PostgresRuntimeLogs(database),
    sealedRows: new PostgresSealedRows(database, vault),
    servers: new PostgresServers(database, vault),
    serviceHealth: new PostgresServiceHealth(database),
    sessions: new PostgresSessions(database, signals),
    signals,
    tokens: new PostgresTokens(database, signals),
    uploadSessions: new PostgresUploadSessions(database),
    users: new PostgresUsers(database, signals),
    adoptions: new PostgresAdoptions(database, vault),
    serverOwners: new PostgresServerOwners(database),
    variables: new PostgresVariables(database, vault),
    webhookDeliveries: new PostgresWebhookDeliveries(database),
  };
}
