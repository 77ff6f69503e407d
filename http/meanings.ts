import type { CertificateStatusName } from "../domain/certificates/certificate_status.ts";
import type { DeliveryDecisionKind } from "../domain/githost/webhook_delivery.ts";
import type { DeviceStatus } from "../domain/githost/device_status.ts";
import type { FileEntry, GitAccount, GitHostSource } from "../domain/githost/repository.ts";
import type { ProbeCode } from "../domain/backups/probe.ts";
import type { DestinationKind } from "../domain/backups/destination.ts";
import type {
  Decision,
  DeploymentStatus,
  Environment,
  ServiceStatus,
  StepName,
  Trigger,
} from "../domain/deployments/deployment.ts";
import {
  type Action,
  ACTIONS,
  type Permission,
  type Resource,
  RESOURCES,
  type Role,
} from "../domain/identity/permission.ts";
import type { ProjectLocation, ProjectSource, ProjectType, RuntimeName } from "../domain/projects/project.ts";

/** Descriptions of the enum values of the API, for its documentation. */
type Meanings<Word extends string> = Readonly<Record<Word, string>>;

export const DEPLOYMENT_STATUS: Meanings<DeploymentStatus> = {
  queued: "Waiting for its turn, or held until it is started explicitly",
  building: "Fetching, detecting and building the source, or waiting for an approval of the build",
  deploying: "Built and starting; it gets traffic once it responds",
  ready: "Came up. Final, even after a later deployment has replaced it",
  failed: "Could not be built or did not come up; the former release keeps serving. Final",
  cancelled: "Cancelled before it finished; the former release keeps serving. Final",
  partial_failure: "Some services came up and others did not; waiting for keep or reject",
  rejected: "The services that came up were rejected; the former release serves again. Final",
  superseded: "Replaced by a newer push to the same branch before it started. Final",
};

export const SERVICE_STATUS: Meanings<ServiceStatus> = {
  pending: "Not processed yet",
  building: "Building it, or pulling its image",
  starting: "Started, but does not respond yet",
  healthy: "Running and responding",
  done: "One-shot service that completed successfully",
  unchanged: "Nothing changed; its former version keeps running",
  failed: "Could not be built, did not come up, or is down now; see error",
  stopped: "No longer running",
};

export const DECISION: Meanings<Decision> = {
  pending: "Waiting for keep or reject",
  kept: "The services that came up were kept",
  rejected: "They were rejected; the former release serves again",
};

export const TRIGGER: Meanings<Trigger> = {
  manual: "A request to deploy the project, or to promote a preview",
  push: "A push to the linked repository",
  pull_request: "A pull request in the linked repository that was opened or pushed to",
  redeploy: "A request to rebuild a former deployment",
  rollback: "A rollback to a former release",
  upload: "A request to deploy an uploaded folder",
};

export const STEP: Meanings<StepName> = {
  fetch: "Fetches the source",
  detect: "Detects the type of the source and how to build it",
  build: "Installs the packages and builds, or builds an image",
  start: "Starts the services",
  health: "Waits until the services respond and stay up",
  switch: "Switches traffic to the new release",
  retire: "Drains and stops the former release",
  clean: "Removes what is no longer needed",
};

export const STEP_STATUS: Meanings<"running" | "done" | "failed" | "skipped"> = {
  running: "In progress",
  done: "Succeeded",
  failed: "Failed, and so did the deployment",
  skipped: "Nothing to do",
};

export const INSTANCE_STATUS: Meanings<"starting" | "running" | "failed" | "exited"> = {
  starting: "Started, but does not respond yet",
  running: "The program is running",
  failed: "The program ended and is restarted automatically at nextStartAt",
  exited: "The program ended and is not restarted",
};

export const ENVIRONMENT: Meanings<Environment> = {
  production: "The release that the addresses of the project route to",
  preview: "A release with its own address and volumes, and the variables of previews",
};

export const VARIABLE_SET: Meanings<Environment> = {
  production: "Variables of production deployments and promoted previews; previews get none of them",
  preview: "Variables of previews, which get no others",
};

export const ROLE: Meanings<Role> = {
  owner: "Full access, including the organization itself",
  admin: "Full access, except for changing the organization",
  developer: "Creates and deploys projects and changes their build settings; reads everything else",
  viewer: "Reads everything and changes nothing",
  restricted: "No access except through grants",
};

export const RESOURCE: Meanings<Resource> = {
  deployment: "Deployments, with their logs and uploads",
  backup_destination: "Backup destinations",
  githost: "Owners and repositories of the git host",
  server: "Servers that Slipway connects to over SSH",
  project: "Projects, with their variables, host names and volumes; a grant on a project covers its deployments",
  member: "Members, invitations and the audit log",
  organization: "The organization itself and its link to the cloud",
};

export const LEVEL: Meanings<Action> = {
  list: "See it in lists",
  read: "Also read its details",
  write: "Also create and change it",
  admin: "Also delete it and perform actions that are hard to undo",
};

export const PERMISSION = Object.fromEntries(
  RESOURCES.flatMap((resource) =>
    ACTIONS.map((action) => [`${resource}:${action}`, `${RESOURCE[resource].replace(/[,;].*/, "")}: ${LEVEL[action]}`]),
  ),
) as Meanings<Permission>;

export const CREDENTIAL: Meanings<"token" | "session" | "password" | "invitation" | "githost"> = {
  token: "An access token",
  session: "A login session",
  password: "The password given at a login",
  invitation: "An invitation link",
  githost: "What the git host returned or reported",
};

export const OUTCOME: Meanings<"started" | "succeeded" | "refused" | "failed"> = {
  started: "Started; if it remains so, the server stopped during the request",
  succeeded: "Completed",
  refused: "The caller lacked the permission",
  failed: "Could not be completed",
};

export const PROJECT_TYPE: Meanings<ProjectType> = {
  app: "A program that commands build and start",
  static: "Files that are served as a static site",
  docker: "An image built from its Dockerfile",
  services: "Several services, from a compose file or from the request",
};

export const RUNTIME: Meanings<RuntimeName> = {
  docker: "Docker containers",
  process: "Sandboxed processes on this machine",
};

export const SOURCE: Meanings<ProjectSource> = {
  githost: "A repository on the git host, by owner and name",
  git: "A repository on any git server, by URL",
  local: "A folder on this machine",
  upload: "Uploaded folders",
};

export const LOCATION: Meanings<ProjectLocation> = {
  local: "On this machine",
  server: "On a server that Slipway connects to over SSH",
  cloud: "In the hosted cloud that the organization is linked to",
};

export const BUILD_STRATEGY: Meanings<"server" | "local"> = {
  server: "On the machine that runs the deployment",
  local: "On this machine; the image is then sent to the server",
};

export const UPLOAD_MODE: Meanings<"local" | "cloud"> = {
  local: "For a deployment on this machine",
  cloud: "For a deployment in the cloud",
};

export const PREPARED_SOURCE: Meanings<"githost" | "local"> = {
  githost: "A repository on the git host: owner, repo and optionally branch (defaults to the default branch)",
  local: "A folder on this machine: path",
};

export const DOMAIN_TYPE: Meanings<"free" | "custom"> = {
  free: "A host name under the base domain of the installation",
  custom: "A custom host name, which requires DNS verification",
};

export const CERTIFICATE_STATUS: Meanings<CertificateStatusName> = {
  none: "A server answers, but presents no certificate",
  valid: "Browsers accept the certificate",
  expiring:
    "Browsers accept it, but it has less than 14 days left, or less than a third of its life if that is shorter",
  expired: "Its time is over",
  mismatch: "Browsers refuse it for this name: it is for other names, from no authority they know, or not valid yet",
  unreachable: "No server answers, or the name does not resolve",
};

export const DESTINATION_KIND: Meanings<DestinationKind> = {
  s3_compatible: "A bucket on Amazon S3 or an S3-compatible store",
  sftp: "A folder on an SFTP server",
  platform_server: "A folder on a server of the organization",
  local: "A folder on this machine, if the operator allows it",
};

export const PROBE_CODE: Meanings<ProbeCode> = {
  unreachable: "Nothing responds at the address",
  auth_failed: "The credentials were rejected",
  not_found: "The bucket, folder or server does not exist",
  permission_denied: "The credentials lack permission to write, read or delete there",
  timeout: "The check timed out",
  corrupt: "The data read back differs from the data written",
  host_key_changed: "The server presents a different host key than the recorded one",
  misconfigured: "A setting is wrong, or the store is full",
};

export const LOG_LEVEL: Meanings<"info" | "warn" | "error"> = {
  info: "Progress messages and program output",
  warn: "A warning to look into",
  error: "The reason for a failure",
};

export const LOG_STREAM: Meanings<"stdout" | "stderr" | "slipway"> = {
  stdout: "The program's standard output",
  stderr: "The program's standard error",
  slipway: "A message from Slipway itself",
};

export const LOG_KIND: Meanings<"build" | "runtime"> = {
  build: "The log of the build and the start",
  runtime: "The output of its services",
};

export const MODE: Meanings<"self-hosted" | "cloud"> = {
  "self-hosted": "On your own machine",
  cloud: "Multi-tenant: no sources from the machine's own disk, no private addresses",
};

export const PULL_POLICY: Meanings<"missing" | "always"> = {
  missing: "Pull the image only if it is missing",
  always: "Check for a newer image each time",
};

export const CONDITION: Meanings<"service_started" | "service_healthy" | "service_completed_successfully"> = {
  service_started: "The dependency was started",
  service_healthy: "The dependency responds, or its health check passes",
  service_completed_successfully: "The dependency ran to completion successfully",
};

export const WAITING_UPLOAD_STATE = {
  open: "Waiting for a folder",
  receiving: "Receiving a folder",
  ready: "Holds a folder that is ready to deploy",
} as const satisfies Meanings<string>;

export const GIT_HOST_SOURCE: Meanings<GitHostSource> = {
  app: "An installation of the app on an account of the git host",
  oauth: "An account that a member connected by OAuth",
  cli: "The login of the git host's command-line client on the server, or GITHOST_TOKEN",
};

export const ACCOUNT_TYPE: Meanings<GitAccount["type"]> = {
  User: "A person",
  Organization: "An organization",
};

export const FILE_TYPE: Meanings<FileEntry["type"]> = {
  file: "A file",
  dir: "A folder",
  symlink: "A symbolic link",
  submodule: "Another repository",
};

export const DELIVERY_DECISION: Meanings<DeliveryDecisionKind> = {
  deployed: "A deployment was queued",
  ignored: "Nothing was done; see reason",
  superseded: "A newer delivery came first",
  applied: "The connection with the git host was changed",
  failed: "It could not be carried out; see reason",
};

export const DEVICE_STATUS: Meanings<DeviceStatus | "none"> = {
  pending: "Waits for the user to type the code in",
  complete: "The account is connected",
  expired: "The code was not typed in in time; connect again",
  denied: "The user refused; connect again",
  none: "There is no such login",
};
