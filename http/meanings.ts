import type { ProbeCode } from "../domain/backups/probe.ts";
import type { DestinationKind } from "../domain/backups/destination.ts";
import type { Decision, DeploymentStatus, ServiceStatus, StepName, Trigger } from "../domain/deployments/deployment.ts";
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
  queued: "Waits for its turn, or is held until somebody starts it",
  building: "Its source is fetched, recognised and built, or its build waits for an approval",
  deploying: "It is built and is started; visitors get to it once it answers",
  ready: "It came up. It is final, also once a later deployment has replaced it",
  failed: "It could not be built or did not come up; what served before serves on. It is final",
  cancelled: "Somebody ended it before it was done; what served before serves on. It is final",
  partial_failure: "Some of its services came up and others did not: it waits for keep or reject",
  rejected: "Somebody rejected what came up; what served before serves again. It is final",
  superseded: "A newer push to the same branch took its place before it began. It is final",
};

export const SERVICE_STATUS: Meanings<ServiceStatus> = {
  pending: "Nothing was done about it yet",
  building: "It is built, or its image is fetched",
  starting: "It was started and does not answer yet",
  healthy: "It runs and answers",
  done: "It ran once and ended well, as it should",
  unchanged: "Nothing about it changed: its former version runs on",
  failed: "It could not be built, did not come up, or is down now; error says why",
  stopped: "Nothing of it runs any more",
};

export const DECISION: Meanings<Decision> = {
  pending: "It waits for keep or reject",
  kept: "Somebody kept the services that came up",
  rejected: "Somebody rejected them; what served before serves again",
};

export const TRIGGER: Meanings<Trigger> = {
  manual: "Somebody deployed what the project is linked to",
  push: "A push to the linked repository",
  redeploy: "A former deployment was built again",
  rollback: "A former release was gone back to",
  upload: "Somebody uploaded a folder",
};

export const STEP: Meanings<StepName> = {
  fetch: "The source is fetched",
  detect: "It is found out what the source is and how it is built",
  build: "It is installed and built, or put into an image",
  start: "Its services are started",
  health: "It is waited for until they answer and stay up",
  switch: "Visitors are led to it",
  retire: "What served before finishes its answers and is stopped",
  clean: "What nobody needs any more is removed",
};

export const STEP_STATUS: Meanings<"running" | "done" | "failed" | "skipped"> = {
  running: "It is being carried out",
  done: "It went well",
  failed: "It did not go well, and the deployment with it",
  skipped: "There was nothing to do",
};

export const INSTANCE_STATUS: Meanings<"starting" | "running" | "failed" | "exited"> = {
  starting: "It was started and does not answer yet",
  running: "Its program runs",
  failed: "Its program ended and is started again by itself at nextStartAt",
  exited: "Its program ended and stays so",
};

export const ENVIRONMENT: Meanings<"production" | "preview"> = {
  production: "What the addresses of the project lead to",
  preview: "A release with an address and volumes of its own",
};

export const ROLE: Meanings<Role> = {
  owner: "May do everything, the organization itself included",
  admin: "May do everything but change the organization",
  developer: "May create and deploy projects and change how they are built; may look at all else",
  viewer: "May look at everything and change nothing",
  restricted: "May do only what grants allow",
};

export const RESOURCE: Meanings<Resource> = {
  deployment: "Deployments, with their logs and uploads",
  backup_destination: "Backup destinations",
  githost: "Owners and repositories of the git host",
  server: "Servers that are reached over SSH",
  project: "Projects with their variables, names and volumes; a grant on one covers its deployments",
  member: "Members, invitations and the audit log",
  organization: "The organization itself and its link to the cloud",
};

export const LEVEL: Meanings<Action> = {
  list: "See that it is there, in lists",
  read: "See all of it, too",
  write: "Create and change it, too",
  admin: "Delete it and do what is hard to undo, too",
};

export const PERMISSION = Object.fromEntries(
  RESOURCES.flatMap((resource) =>
    ACTIONS.map((action) => [`${resource}:${action}`, `${RESOURCE[resource].replace(/[,;].*/, "")}: ${LEVEL[action]}`]),
  ),
) as Meanings<Permission>;

export const CREDENTIAL: Meanings<"token" | "session" | "password" | "invitation"> = {
  token: "An access token",
  session: "A session that a login began",
  password: "The password of a login",
  invitation: "The link of an invitation",
};

export const OUTCOME: Meanings<"started" | "succeeded" | "refused" | "failed"> = {
  started: "It was begun; where it stays so, the server was stopped in the middle",
  succeeded: "It was done",
  refused: "The caller was not allowed to",
  failed: "It could not be done",
};

export const PROJECT_TYPE: Meanings<ProjectType> = {
  app: "A program that is built and started by commands",
  static: "Files that are served as a site",
  docker: "What its Dockerfile builds and starts",
  services: "Several services, from a compose file or as given",
};

export const RUNTIME: Meanings<RuntimeName> = {
  docker: "In containers, on Docker",
  process: "As sandboxed processes of the machine",
};

export const SOURCE: Meanings<ProjectSource> = {
  githost: "A repository of the git host, by owner and name",
  git: "A repository of any git server, by its address",
  local: "A folder of the machine",
  upload: "Folders that are uploaded",
};

export const LOCATION: Meanings<ProjectLocation> = {
  local: "On this machine",
  server: "On a server that is reached over SSH",
  cloud: "In the cloud that the organization is linked to",
};

export const BUILD_STRATEGY: Meanings<"server" | "local"> = {
  server: "Where it runs",
  local: "On this machine",
};

export const UPLOAD_MODE: Meanings<"local" | "cloud"> = {
  local: "For a deployment on this machine",
  cloud: "For a deployment in the cloud",
};

export const PREPARED_SOURCE: Meanings<"githost" | "local"> = {
  githost: "A repository of the git host: owner, repo and, unless it is the default one, branch",
  local: "A folder of the machine: path",
};

export const DOMAIN_TYPE: Meanings<"free" | "custom"> = {
  free: "A name under the base domain of the installation",
  custom: "A name of one's own, which has to be proven",
};

export const DESTINATION_KIND: Meanings<DestinationKind> = {
  s3_compatible: "A bucket of Amazon S3 or of a store that speaks its language",
  sftp: "A folder of a machine that is reached over SFTP",
  platform_server: "A folder of a server of the organization",
  local: "A folder of this machine, where the operator allows it",
};

export const PROBE_CODE: Meanings<ProbeCode> = {
  unreachable: "Nothing answers at that address",
  auth_failed: "The credentials are not accepted",
  not_found: "The bucket, folder or server is not there",
  permission_denied: "The credentials are not allowed to write, read or delete there",
  timeout: "It took too long",
  corrupt: "What was read back is not what was written",
  host_key_changed: "The machine shows another host key than the one recorded",
  misconfigured: "A setting is wrong, or the store is full",
};

export const LOG_LEVEL: Meanings<"info" | "warn" | "error"> = {
  info: "What happens, and what programs print",
  warn: "What somebody should look at",
  error: "Why something failed",
};

export const LOG_STREAM: Meanings<"stdout" | "stderr" | "slipway"> = {
  stdout: "The program's standard output",
  stderr: "The program's standard error",
  slipway: "Slipway itself",
};

export const LOG_KIND: Meanings<"build" | "runtime"> = {
  build: "What happened while it was built and started",
  runtime: "What its services printed",
};

export const MODE: Meanings<"self-hosted" | "cloud"> = {
  "self-hosted": "On one's own machine",
  cloud: "For many tenants: no sources from the machine's own disk, no private addresses",
};

export const PULL_POLICY: Meanings<"missing" | "always"> = {
  missing: "Fetch the image when it is not there",
  always: "Look for a newer one each time",
};

export const CONDITION: Meanings<"service_started" | "service_healthy" | "service_completed_successfully"> = {
  service_started: "It was started",
  service_healthy: "It answers, or its health check finds it well",
  service_completed_successfully: "It ran once and ended well",
};

export const WAITING_UPLOAD_STATE = {
  open: "It waits for its folder",
  receiving: "It takes its folder",
  ready: "It holds a folder that can be deployed",
} as const satisfies Meanings<string>;
