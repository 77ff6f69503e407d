import { changeDestination } from "../application/backups/change_destination.ts";
import { createDestination } from "../application/backups/create_destination.ts";
import { findDestination } from "../application/backups/find_destination.ts";
import { listDestinations } from "../application/backups/list_destinations.ts";
import { preflightDestination, preflightDraft } from "../application/backups/preflight.ts";
import { removeDestination } from "../application/backups/remove_destination.ts";
import { readCloudLink, removeCloudLink, setCloudLink } from "../application/cloud/cloud_link.ts";
import { claimDomain } from "../application/domains/claim_domain.ts";
import { listDomains } from "../application/domains/list_domains.ts";
import { removeDomain } from "../application/domains/remove_domain.ts";
import { verifyDomain } from "../application/domains/verify_domain.ts";
import { cancelDeployment } from "../application/deployments/cancel_deployment.ts";
import { keepDeployment, rejectDeployment } from "../application/deployments/decide_deployment.ts";
import { deployProject } from "../application/deployments/deploy_project.ts";
import { followDeployment } from "../application/deployments/follow_deployment.ts";
import { followOutput } from "../application/services/follow_output.ts";
import { describeInstances, measureInstances, restartInstances } from "../application/services/instances_of.ts";
import { pinDeployment } from "../application/deployments/pin_deployment.ts";
import { prepareSource } from "../application/deployments/prepare_source.ts";
import { promote } from "../application/deployments/promote.ts";
import { downloadLogs, readLogs } from "../application/deployments/read_logs.ts";
import { redeploy, rollback } from "../application/deployments/redeploy.ts";
import { removeDeployment } from "../application/deployments/remove_deployment.ts";
import { respondToPrompt } from "../application/deployments/respond_to_prompt.ts";
import { startBuild } from "../application/deployments/start_build.ts";
import {
  showDeployment,
  viewBuild,
  viewDeployment,
  viewDeployments,
} from "../application/deployments/view_deployment.ts";
import { acceptInvitation } from "../application/identity/accept_invitation.ts";
import { changeMember } from "../application/identity/change_member.ts";
import { changeProfile } from "../application/identity/change_profile.ts";
import { claimInstallation } from "../application/identity/claim_installation.ts";
import { createOrganization } from "../application/identity/create_organization.ts";
import { createToken } from "../application/identity/create_token.ts";
import { describeCaller } from "../application/identity/describe_caller.ts";
import { identifyCaller } from "../application/identity/identify_caller.ts";
import { inviteMember } from "../application/identity/invite_member.ts";
import { listAudit } from "../application/identity/list_audit.ts";
import { listInvitations, listMembers } from "../application/identity/list_members.ts";
import { listOrganizations } from "../application/identity/list_organizations.ts";
import { listTokens } from "../application/identity/list_tokens.ts";
import { logIn } from "../application/identity/log_in.ts";
import { logOut } from "../application/identity/log_out.ts";
import { removeMember } from "../application/identity/remove_member.ts";
import { revokeToken } from "../application/identity/revoke_token.ts";
import { setPassword } from "../application/identity/set_password.ts";
import { changeProject } from "../application/projects/change_project.ts";
import { changeVariables } from "../application/projects/change_variables.ts";
import { createProject } from "../application/projects/create_project.ts";
import { ensureProject } from "../application/projects/ensure_project.ts";
import { findProject } from "../application/projects/find_project.ts";
import { listProjects } from "../application/projects/list_projects.ts";
import { listVolumes } from "../application/services/list_volumes.ts";
import { listVariables } from "../application/projects/list_variables.ts";
import { refuseLocalSource } from "../application/projects/refuse_local_source.ts";
import { removeProject } from "../application/projects/remove_project.ts";
import { switchAutoDeploy } from "../application/projects/switch_auto_deploy.ts";
import { answerOnce } from "../application/system/answer_once.ts";
import { auditTrail } from "../application/system/audit_trail.ts";
import { changeServer } from "../application/servers/change_server.ts";
import { checkServer } from "../application/servers/check_server.ts";
import { createServer } from "../application/servers/create_server.ts";
import { findServer } from "../application/servers/find_server.ts";
import { listServers } from "../application/servers/list_servers.ts";
import { removeServer } from "../application/servers/remove_server.ts";
import { sweep, sweepUploads } from "../application/system/sweep.ts";
import { sweepHistory } from "../application/system/sweep_history.ts";
import { discardUploadSession } from "../application/projects/uploads/discard_upload_session.ts";
import { listUploadSessions } from "../application/projects/uploads/list_upload_sessions.ts";
import { openUploadSession } from "../application/projects/uploads/open_upload_session.ts";
import { receiveUpload } from "../application/projects/uploads/receive_upload.ts";
import { scanUpload } from "../application/projects/uploads/scan_upload.ts";
import type { Config } from "../config.ts";
import { Failure } from "../domain/failure.ts";
import { loggedError } from "../domain/logged_error.ts";
import { createApp } from "../http/app.ts";
import { Metrics } from "../http/metrics.ts";
import manifest from "../package.json" with { type: "json" };
import type { Log } from "../ports/system/log.ts";
import type { World } from "../ports/world.ts";

export const VERSION = manifest.version;

/** What of the settings the application itself needs. */
export type AppSettings = Pick<
  Config,
  | "mode"
  | "runtime"
  | "baseDomain"
  | "dataFolder"
  | "backupAllowLocal"
  | "backupLocalRoot"
  | "localSourceRoots"
  | "trustedProxies"
  | "uploadMaxBytes"
  | "githostUrl"
> & { readonly publicUrl: string };

/** Builds every use case from one set of ports. */
export function useCases(world: World, settings: AppSettings) {
  const { mode, baseDomain, dataFolder, localSourceRoots: roots, uploadMaxBytes: maxBytes } = settings;
  const ports = {
    ...world,
    mode,
    runtimePreset: settings.runtime,
    baseDomain,
    publicHost: new URL(settings.publicUrl).hostname,
    localSources: { mode, roots, dataFolder },
    localBackups: { mode, allowed: settings.backupAllowLocal, root: settings.backupLocalRoot, dataFolder },
    uploadLimits: { maxBytes, maxUnpackedBytes: 4 * maxBytes, maxEntries: 200_000 },
    auditTrail: auditTrail(world),
    githostUrl: settings.githostUrl,
  };
  return {
    ...identityUseCases(ports),
    ...projectUseCases(ports),
    ...machineUseCases(ports),
    ...backupUseCases(ports),
    ...deploymentUseCases(ports),
  };
}

type Ports = World &
  Pick<AppSettings, "mode" | "baseDomain"> & {
    readonly publicHost: string;
    readonly githostUrl: string;
    readonly runtimePreset: AppSettings["runtime"];
    readonly localSources: Parameters<typeof createProject>[0]["localSources"];
    readonly localBackups: Parameters<typeof createDestination>[0]["localBackups"];
    readonly uploadLimits: Parameters<typeof receiveUpload>[0]["uploadLimits"];
    readonly auditTrail: ReturnType<typeof auditTrail>;
  };

function identityUseCases(ports: Ports) {
  return {
    acceptInvitation: acceptInvitation(ports),
    answerOnce: answerOnce(ports),
    auditTrail: ports.auditTrail,
    changeMember: changeMember(ports),
    changeProfile: changeProfile(ports),
    claimInstallation: claimInstallation(ports),
    createOrganization: createOrganization(ports),
    createToken: createToken(ports),
    describeCaller: describeCaller(ports),
    identifyCaller: identifyCaller(ports),
    inviteMember: inviteMember(ports),
    listAudit: listAudit(ports),
    listInvitations: listInvitations(ports),
    listMembers: listMembers(ports),
    listOrganizations: listOrganizations(ports),
    listTokens: listTokens(ports),
    logIn: logIn(ports),
    logOut: logOut(ports),
    removeMember: removeMember(ports),
    revokeToken: revokeToken(ports),
    setPassword: setPassword(ports),
  };
}

function projectUseCases(ports: Ports) {
  return {
    changeProject: changeProject(ports),
    changeVariables: changeVariables(ports),
    claimDomain: claimDomain(ports),
    createProject: createProject(ports),
    discardUploadSession: discardUploadSession(ports),
    ensureProject: ensureProject(ports),
    findProject: findProject(ports),
    listDomains: listDomains(ports),
    listProjects: listProjects(ports),
    listUploadSessions: listUploadSessions(ports),
    listVariables: listVariables(ports),
    listVolumes: listVolumes(ports),
    openUploadSession: openUploadSession(ports),
    receiveUpload: receiveUpload(ports),
    removeDomain: removeDomain(ports),
    removeProject: removeProject(ports),
    scanUpload: scanUpload(ports),
    sweep: sweep(ports),
    sweepHistory: sweepHistory(ports),
    sweepUploads: sweepUploads(ports),
    switchAutoDeploy: switchAutoDeploy(ports),
    verifyDomain: verifyDomain(ports),
  };
}

function machineUseCases(ports: Ports) {
  return {
    changeServer: changeServer(ports),
    checkServer: checkServer(ports),
    createServer: createServer(ports),
    findServer: findServer(ports),
    listServers: listServers(ports),
    readCloudLink: readCloudLink(ports),
    removeCloudLink: removeCloudLink(ports),
    removeServer: removeServer(ports),
    setCloudLink: setCloudLink(ports),
  };
}

function backupUseCases(ports: Ports) {
  return {
    changeDestination: changeDestination(ports),
    createDestination: createDestination(ports),
    findDestination: findDestination(ports),
    listDestinations: listDestinations(ports),
    preflightDestination: preflightDestination(ports),
    preflightDraft: preflightDraft(ports),
    removeDestination: removeDestination(ports),
  };
}

function deploymentUseCases(ports: Ports) {
  return {
    cancelDeployment: cancelDeployment(ports),
    keepDeployment: keepDeployment(ports),
    rejectDeployment: rejectDeployment(ports),
    deployProject: deployProject(ports),
    describeInstances: describeInstances(ports),
    downloadLogs: downloadLogs(ports),
    followDeployment: followDeployment(ports),
    followOutput: followOutput(ports),
    measureInstances: measureInstances(ports),
    pinDeployment: pinDeployment(ports),
    prepareSource: prepareSource(ports),
    promote: promote(ports),
    readLogs: readLogs(ports),
    redeploy: redeploy(ports),
    refuseLocalSource: refuseLocalSource(ports),
    removeDeployment: removeDeployment(ports),
    respondToPrompt: respondToPrompt(ports),
    restartInstances: restartInstances(ports),
    rollback: rollback(ports),
    showDeployment: showDeployment(ports),
    startBuild: startBuild(ports),
    viewBuild: viewBuild(ports),
    viewDeployment: viewDeployment(ports),
    viewDeployments: viewDeployments(ports),
  };
}

/** Wires ports, use cases and HTTP together: one function from request to answer. */
export function buildApplication(world: World, settings: AppSettings) {
  const cases = useCases(world, settings);
  const { log } = world;
  const { handle, routes } = createApp(cases, {
    identify: cases.identifyCaller,
    answerOnce: cases.answerOnce,
    audit: cases.auditTrail,
    metrics: new Metrics(),
    publicUrl: settings.publicUrl,
    publicOrigin: new URL(settings.publicUrl).origin,
    trustedProxies: settings.trustedProxies,
    report: (error, requestId) => report(log, error, requestId),
    logRequest: (line) => log.write("info", "request", line),
    facts: {
      version: VERSION,
      mode: settings.mode,
      runtime: () => defaultRuntime(world, settings),
      databaseAnswers: () => world.serviceHealth.databaseAnswers(),
    },
  });
  return { handle, routes, useCases: cases };
}

/** What builds and runs projects that do not choose. */
export async function defaultRuntime(
  { containerEngine }: Pick<World, "containerEngine">,
  { runtime }: Pick<AppSettings, "runtime">,
): Promise<"docker" | "process"> {
  if (runtime !== "auto") return runtime;
  return (await containerEngine.answers()) ? "docker" : "process";
}

/** Tells the operator what a request met that its answer does not say. */
function report(log: Log, error: unknown, requestId: string): void {
  const fields = { requestId, ...loggedError(error) };
  if (error instanceof Failure) log.write("warn", "A request needed a part that is down", fields);
  else log.write("error", "A request met a bug", fields);
}
