import { MemoryAttempts } from "./attempts.ts";
import { MemoryAuditLog } from "./audit_log.ts";
import { MemoryBackupDestinations } from "./backup_destinations.ts";
import { MemoryBuilder } from "./builder.ts";
import { MemoryAuthorityAccounts } from "./authority_accounts.ts";
import { MemoryCertificateAuthority } from "./certificate_authority.ts";
import { MemoryCertificateOrders } from "./certificate_orders.ts";
import { MemoryCertificates } from "./certificates.ts";
import { MemoryCloudApi } from "./cloud_api.ts";
import { MemoryCloudGitHost } from "./cloud_git_host.ts";
import { MemoryCloudLinks } from "./cloud_links.ts";
import { MemoryPullRequests } from "./pull_requests.ts";
import { MemoryCommitReports } from "./commit_reports.ts";
import { MemoryCommitStatuses } from "./commit_statuses.ts";
import { MemoryConnectAttempts } from "./connect_attempts.ts";
import { MemoryCommandLineLogin } from "./command_line_login.ts";
import { MemoryServiceSets } from "./service_sets.ts";
import { MemoryContainerEngine } from "./container_engine.ts";
import { MemoryDeployKeys } from "./deploy_keys.ts";
import { MemoryDeploymentEvents } from "./deployment_events.ts";
import { MemoryDeploymentHistory } from "./deployment_history.ts";
import { MemoryDeploymentQueue } from "./deployment_queue.ts";
import { MemoryDeployments } from "./deployments.ts";
import { MemoryDomains } from "./domains.ts";
import { MemoryEdge } from "./edge.ts";
import { MemoryGitHostChoices } from "./git_host_choices.ts";
import { MemoryGitAccounts } from "./git_accounts.ts";
import { MemoryGitHooks } from "./git_hooks.ts";
import { MemoryGitHostState } from "./git_host.ts";
import { MemoryGitRepositories } from "./git_repositories.ts";
import { MemoryHealthProbe } from "./health_probe.ts";
import { MemoryHostFolders } from "./host_folders.ts";
import { MemoryIdempotentAnswers } from "./idempotent_answers.ts";
import { MemoryIdentities } from "./identities.ts";
import { MemoryImageBuilder } from "./image_builder.ts";
import { MemoryImageRegistry } from "./image_registry.ts";
import { MemoryInstallation } from "./installation.ts";
import { MemoryAppInstallations } from "./app_installations.ts";
import { MemoryInvitations } from "./invitations.ts";
import { MemoryKeptSources } from "./kept_sources.ts";
import { MemoryLinkedProjects } from "./linked_projects.ts";
import { MemoryLiveReleases } from "./live_releases.ts";
import { MemoryManifestParser } from "./manifest_parser.ts";
import { MemoryMembers } from "./members.ts";
import { MemoryTables } from "./memory_tables.ts";
import { MemoryNameRecords } from "./name_records.ts";
import { MemoryOAuthAccounts } from "./oauth_accounts.ts";
import { MemoryObjectStorages } from "./object_storages.ts";
import { MemoryOrganizations } from "./organizations.ts";
import { MemoryPasswords } from "./passwords.ts";
import { MemoryProjects } from "./projects.ts";
import { MemoryPullRequestComments } from "./pull_request_comments.ts";
import { MemoryReleaseFolders } from "./release_folders.ts";
import { MemoryReleaseImages } from "./release_images.ts";
import { MemoryRemoteHosts } from "./remote_hosts.ts";
import { MemoryRepositoryHooks } from "./repository_hooks.ts";
import { MemoryRuntime } from "./runtime.ts";
import { MemoryRuntimeLogs } from "./runtime_logs.ts";
import { MemoryServers } from "./servers.ts";
import { MemoryServiceHealth } from "./service_health.ts";
import { MemoryServiceNetworks } from "./service_networks.ts";
import { MemorySessions } from "./sessions.ts";
import { MemorySources } from "./sources.ts";
import { MemoryTlsProbe } from "./tls_probe.ts";
import { MemoryWebTexts } from "./web_texts.ts";
import { MemoryTokens } from "./tokens.ts";
import { MemoryUploadFiles } from "./upload_files.ts";
import { MemoryUploadSessions } from "./upload_sessions.ts";
import { MemoryUsers } from "./users.ts";
import { MemoryAdoptions } from "./adoptions.ts";
import { MemoryEngineInventories } from "./engine_inventories.ts";
import { MemoryServerEngines } from "./server_engines.ts";
import { MemoryServerOwners } from "./server_owners.ts";
import { MemoryServerConnections } from "./server_connections.ts";
import { MemoryVariables } from "./variables.ts";
import { MemoryVolumes } from "./volumes.ts";
import { MemoryWebhookDeliveries } from "./webhook_deliveries.ts";
import { MemoryYamlReader } from "./yaml_reader.ts";

/** All ports, in memory. */
export type MemoryWorld = ReturnType<typeof memoryWorld>;

/** Creates an isolated set of adapters: one for every port, over the same tables. */
export function memoryWorld(tables: MemoryTables = new MemoryTables()) {
  const deployments = new MemoryDeployments(tables);
  const releaseFolders = new MemoryReleaseFolders();
  const keptSources = new MemoryKeptSources((folder) => releaseFolders.tree(folder));
  const releaseImages = new MemoryReleaseImages();
  const uploadFiles = new MemoryUploadFiles();
  const volumes = new MemoryVolumes();
  const runtime = new MemoryRuntime({}, volumes);
  const writeInto = (folder: string, path: string, content: string) =>
    (MemoryKeptSources.owns(folder) ? keptSources : releaseFolders).tree(folder).write(path, content);
  return {
    backupDestinations: new MemoryBackupDestinations(tables),
    clock: tables.clock,
    cloudLinks: new MemoryCloudLinks(tables),
    containerEngine: new MemoryContainerEngine(),
    builder: new MemoryBuilder(),
    deployKeys: new MemoryDeployKeys(tables),
    deployments,
    ...identityStores(tables),
    ...deploymentRecords(tables),
    ...gitHostStores(tables),
    ...gitHost(tables),
    ...certificateStores(tables),
    edge: new MemoryEdge(),
    healthProbe: new MemoryHealthProbe(),
    keptSources,
    liveReleases: new MemoryLiveReleases(tables, deployments),
    releaseFolders,
    releaseImages,
    instanceSockets: runtime,
    runtime,
    sources: new MemorySources({}, writeInto, (uploadId) => uploadFiles.texts(uploadId)),
    domains: new MemoryDomains(tables),
    hostFolders: new MemoryHostFolders(),
    idempotentAnswers: new MemoryIdempotentAnswers(tables),
    imageBuilder: new MemoryImageBuilder(releaseImages, {}, releaseFolders),
    imageRegistry: new MemoryImageRegistry(releaseImages),
    manifestParser: new MemoryManifestParser(),
    nameRecords: new MemoryNameRecords(),
    tlsProbe: new MemoryTlsProbe(),
    webTexts: new MemoryWebTexts(),
    objectStorages: new MemoryObjectStorages(),
    passwords: new MemoryPasswords(),
    projects: new MemoryProjects(tables),
    ...servers(tables),
    serverEngines: new MemoryServerEngines(tables, runtime, { releaseFolders, releaseImages }),
    serverOwners: new MemoryServerOwners(tables),
    serviceNetworks: new MemoryServiceNetworks(runtime),
    serviceHealth: new MemoryServiceHealth(),
    uploadFiles,
    uploadSessions: new MemoryUploadSessions(tables),
    yamlReader: new MemoryYamlReader(),
    adoptions: new MemoryAdoptions(tables),
    variables: new MemoryVariables(tables),
    volumes,
  };
}

function servers(tables: MemoryTables) {
  const remoteHosts = new MemoryRemoteHosts();
  return {
    engineInventories: new MemoryEngineInventories(remoteHosts),
    remoteHosts,
    serverConnections: new MemoryServerConnections(remoteHosts),
    servers: new MemoryServers(tables),
  };
}

function certificateStores(tables: MemoryTables) {
  return {
    authorityAccounts: new MemoryAuthorityAccounts(tables),
    certificateAuthority: new MemoryCertificateAuthority(tables.clock),
    certificateOrders: new MemoryCertificateOrders(tables),
    certificates: new MemoryCertificates(tables),
  };
}

function identityStores(tables: MemoryTables) {
  return {
    attempts: new MemoryAttempts(tables),
    auditLog: new MemoryAuditLog(tables),
    identities: new MemoryIdentities(tables),
    installation: new MemoryInstallation(tables),
    invitations: new MemoryInvitations(tables),
    members: new MemoryMembers(tables),
    organizations: new MemoryOrganizations(tables),
    sessions: new MemorySessions(tables),
    tokens: new MemoryTokens(tables),
    users: new MemoryUsers(tables),
  };
}

function deploymentRecords(tables: MemoryTables) {
  return {
    deploymentEvents: new MemoryDeploymentEvents(tables),
    deploymentHistory: new MemoryDeploymentHistory(tables),
    deploymentQueue: new MemoryDeploymentQueue(tables),
    runtimeLogs: new MemoryRuntimeLogs(tables),
    serviceSets: new MemoryServiceSets(tables),
  };
}

function gitHostStores(tables: MemoryTables) {
  return {
    cloudApi: new MemoryCloudApi(),
    cloudGitHost: new MemoryCloudGitHost(),
    commitReports: new MemoryCommitReports(tables),
    pullRequests: new MemoryPullRequests(tables),
    connectAttempts: new MemoryConnectAttempts(tables),
    gitHostChoices: new MemoryGitHostChoices(tables),
    appInstallations: new MemoryAppInstallations(tables),
    linkedProjects: new MemoryLinkedProjects(tables),
    oauthAccounts: new MemoryOAuthAccounts(tables),
    repositoryHooks: new MemoryRepositoryHooks(tables),
    webhookDeliveries: new MemoryWebhookDeliveries(tables),
  };
}

function gitHost(tables: MemoryTables) {
  const gitHostState = new MemoryGitHostState(tables.clock);
  return {
    gitHostState,
    commitStatuses: new MemoryCommitStatuses(gitHostState),
    commandLineLogin: new MemoryCommandLineLogin(gitHostState),
    gitAccounts: new MemoryGitAccounts(gitHostState),
    gitHooks: new MemoryGitHooks(gitHostState),
    gitRepositories: new MemoryGitRepositories(gitHostState),
    pullRequestComments: new MemoryPullRequestComments(gitHostState),
  };
}
