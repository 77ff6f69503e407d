import type {
  Deployment,
  DeploymentSource,
  DeploymentOverrides,
  Environment,
} from "../../domain/deployments/deployment.ts";
import { Failure, invalid, invalidField, notFound } from "../../domain/failure.ts";
import { allows, demand, type Principal } from "../../domain/identity/permission.ts";
import { isBranchName, type Project, type ProjectLocation, sourceOf } from "../../domain/projects/project.ts";
import type { PublicEndpoint, ServiceDefinition } from "../../domain/services/service_definition.ts";
import { resolveEndpoints } from "../../domain/services/resolve_endpoints.ts";
import type { UploadSessions } from "../../ports/projects/upload_sessions.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import type { ClaimDomainPorts } from "../domains/claim_domain.ts";
import { claimEndpointNames } from "../domains/claim_endpoint_names.ts";
import { checkDeployedPath } from "../projects/check_deployed_path.ts";
import type { CheckLocalPathPorts } from "../projects/check_local_path.ts";
import { servicesOf } from "../projects/services_of.ts";
import { findUploadSession } from "../projects/uploads/find_upload_session.ts";
import { linkedSource, type LinkedSourceSettings } from "./sources/linked_source.ts";
import type { AdoptedPorts } from "./adopted_services.ts";
import { refuseAdopted } from "./refuse_adopted.ts";
import { placeProject, type PlaceProjectPorts, storePlace } from "./place_project.ts";
import { type NewDeployment, makeDeployment, type MakeDeploymentPorts, planOf } from "./make_deployment.ts";

export interface DeployProjectPorts
  extends
    MakeDeploymentPorts,
    CheckLocalPathPorts,
    ClaimDomainPorts,
    LinkedSourceSettings,
    PlaceProjectPorts,
    AdoptedPorts {
  readonly uploadSessions: UploadSessions;
  readonly variables: Variables;
}

/** Input of a deployment request. */
export interface DeployRequest {
  readonly projectId: string;
  readonly uploadSessionId?: string;
  readonly branch?: string;
  /** Where an image for a server is built: there, or here and then sent. Without a server both mean the same. */
  readonly buildStrategy?: "server" | "local";
  readonly environment?: Environment;
  readonly requireApproval?: boolean;
  readonly deployTarget?: ProjectLocation;
  readonly serverId?: string;
  readonly services?: readonly ServiceDefinition[];
  readonly publicEndpoints?: readonly PublicEndpoint[];
  readonly start?: boolean;
}

type Origin = Pick<NewDeployment, "source" | "trigger" | "branch">;

/**
 * Queues a deployment of a project: from an uploaded folder, else from the source that the project is linked to.
 * Services that are all images need neither. Validates the given services and endpoints before it claims or stores
 * anything.
 */
export function deployProject(ports: DeployProjectPorts) {
  const make = makeDeployment(ports);
  const findUpload = findUploadSession(ports);
  const checkPath = checkDeployedPath(ports);
  const findServices = servicesOf(ports);
  const claimNames = claimEndpointNames(ports);
  const place = placeProject(ports);
  const checkAdopted = refuseAdopted(ports);
  return async function (by: Principal, request: DeployRequest): Promise<Deployment> {
    const found = await ports.projects.find(by.organizationId, request.projectId);
    if (!found) throw notFound("project");
    demand(by, "deployment:write", { id: "", projectId: found.id });
    if (request.branch !== undefined && !isBranchName(request.branch))
      throw invalidField("branch", "this is not a valid branch name");
    await checkAdopted(found, request);
    const project = await place(by, found, { ...request, ...(isHere(request) && { deployTarget: "local" }) });
    const own = ownOf(by, project, request);
    const { environment = "production" } = request;
    const given = await findServices(project, { environment }, request.services);
    const from: Origin =
      request.uploadSessionId === undefined
        ? { ...linkedSource(ports, project, { given, branch: request.branch }), trigger: "manual" }
        : await uploaded(by, request.uploadSessionId);
    if (request.branch !== undefined && !hasBranches(project, from.source)) throw noBranches(from.source);
    if (from.source.kind === "local") await checkPath(by, project, from.source.path);
    const { publicEndpoints = project.settings.publicEndpoints ?? [] } = request;
    if (given) resolveEndpoints(given, publicEndpoints);
    if (environment !== "preview") await claimNames(by, project, publicEndpoints);
    await storePlace(ports, found, project);
    return make(project, {
      ...from,
      plan: { ...planOf(project), publicEndpoints },
      own: { ...own, ...byAdmin(by, from.source) },
      held: request.start === false,
      environment,
      ...(given && { given }),
    });
  };

  /** In the cloud itself, "cloud" means here. */
  function isHere({ deployTarget }: DeployRequest): boolean {
    return ports.localSources.mode === "cloud" && deployTarget === "cloud";
  }

  async function uploaded(by: Principal, id: string): Promise<Origin> {
    const session = await findUpload(by, id);
    if (ports.localSources.mode === "cloud" && session.mode === "local") {
      throw new Failure(
        "forbidden",
        "local_source_forbidden",
        "Cannot deploy a local folder in cloud mode: upload it in a session of mode cloud",
      );
    }
    if (session.state !== "ready")
      throw invalid(
        "upload_not_ready",
        "Cannot deploy: upload the folder to this session first, or open a new one if it was deployed already",
      );
    return { source: { kind: "upload", uploadId: id }, trigger: "upload" };
  }
}

/**
 * Returns the overrides for this deployment alone. Skipping the project's approval gate requires `deployment:admin`:
 * from other callers `requireApproval: false` is not recorded, so that a gate which the project gets later still
 * applies.
 */
function ownOf(by: Principal, { id, location, settings }: Project, request: DeployRequest): DeploymentOverrides {
  const { branch, buildStrategy, publicEndpoints, requireApproval, services = [] } = request;
  const target = { id: "", projectId: id };
  if (requireApproval === false && settings.requireApproval) demand(by, "deployment:admin", target);
  const mayDecide = requireApproval === true || allows(by, "deployment:admin", target);
  return {
    ...(branch !== undefined && { branch }),
    ...(buildStrategy !== undefined && location === "server" && { buildStrategy }),
    ...(requireApproval !== undefined && mayDecide && { requireApproval }),
    ...(services.length > 0 && { services: true }),
    ...(publicEndpoints && { publicEndpoints }),
  };
}

/** Records that the caller of a deployment from a local folder may deploy any folder of the machine. */
export function byAdmin(by: Principal, { kind }: DeploymentSource): Pick<DeploymentOverrides, "localPathByAdmin"> {
  return kind === "local" && allows(by, "project:admin") ? { localPathByAdmin: true } : {};
}

/**
 * Whether a branch makes sense for the source. Services that are all images accept one if the project is linked to a
 * repository.
 */
function hasBranches({ settings }: Project, { kind }: DeploymentSource): boolean {
  const isLinked = ["git", "githost"].includes(sourceOf(settings));
  return kind === "git" || (kind === "none" && isLinked);
}

function noBranches({ kind }: DeploymentSource): Failure {
  const what = kind === "none" ? "an image" : "a folder";
  return invalidField("branch", `${what} has no branches. Leave it out, or deploy from a repository`);
}
