import { commitOf } from "../../domain/deployments/commit.ts";
import type { Deployment, DeploymentSource, DeploymentOverrides } from "../../domain/deployments/deployment.ts";
import { deployedRepository } from "../../domain/githost/deployed_repository.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import type { Project } from "../../domain/projects/project.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import { recordsIn } from "../../domain/services/service_set.ts";
import { resolveEndpoints } from "../../domain/services/resolve_endpoints.ts";
import type { ServiceSpec } from "../../domain/services/service_spec.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";
import { claimEndpointNames } from "../domains/claim_endpoint_names.ts";
import { checkDeployedPath } from "../projects/check_deployed_path.ts";
import { servicesOf } from "../projects/services_of.ts";
import { byAdmin, type DeployProjectPorts } from "./deploy_project.ts";
import { findDeployment } from "./find_deployment.ts";
import { makeDeployment, planOf } from "./make_deployment.ts";
import { pullRequestObstacle, type PullRequestObstaclePorts } from "./pull_request_obstacle.ts";
import { exactCommit, localPathOf, originOf, sourceAgain, type SourceAgainPorts } from "./sources/source_again.ts";

export interface RedeployPorts extends DeployProjectPorts, SourceAgainPorts, PullRequestObstaclePorts {
  readonly serviceSets: ServiceSets;
}

/**
 * Rebuilds a deployment's project from the latest commit of its branch or the present folder, or with
 * `useExistingCommit` from exactly its own commit or files. The overrides of that deployment apply again; everything
 * else comes from the project's present settings.
 */
export function redeploy(ports: RedeployPorts) {
  const find = findDeployment(ports);
  const make = makeDeployment(ports);
  const checkPullRequest = pullRequestCheck(ports);
  const checkPath = checkDeployedPath(ports);
  const findServices = servicesOf(ports);
  const claimNames = claimEndpointNames(ports);
  return async function (
    by: Principal,
    id: string,
    { useExistingCommit = false }: { readonly useExistingCommit?: boolean },
  ): Promise<Deployment> {
    const old = await find(by, id, "deployment:write");
    const project = await ports.projects.find(by.organizationId, old.projectId);
    if (!project) throw notFound("deployment");
    const { environment, pullRequest } = old;
    await checkPullRequest(by, project, old);
    const own = carriedOver(old);
    const given = own?.services ? await givenTo(old) : await findServices(project, old);
    // The branch of a fork is in another repository.
    const isExact = useExistingCommit || (pullRequest !== undefined && old.branch === null);
    const from = await sourceAgain(ports, { old, project, given, useExistingCommit: isExact });
    if (from.source.kind === "local") await checkPath(by, project, from.source.path);
    const publicEndpoints = own?.publicEndpoints ?? project.settings.publicEndpoints ?? [];
    if (given) resolveEndpoints(given, publicEndpoints);
    // The former deployment's own endpoints were claimed for it then; a name given up since is not claimed again.
    if (!own?.publicEndpoints && environment !== "preview") await claimNames(by, project, publicEndpoints);
    return make(project, {
      ...from,
      trigger: "redeploy",
      redeployOf: old.id,
      environment,
      ...(pullRequest && { pullRequest }),
      own: { ...own, ...byAdmin(by, from.source) },
      plan: { ...planOf(project), publicEndpoints },
      ...(given && { given }),
    });
  };

  async function givenTo({ id }: Deployment): Promise<readonly ServiceSpec[] | undefined> {
    return (await ports.serviceSets.read(id))?.given ?? undefined;
  }
}

/**
 * Refuses to bring the preview of a pull request back that has none any more, and demands an admin for one from a fork,
 * because deploying it approves it.
 */
function pullRequestCheck(ports: RedeployPorts) {
  return async function (by: Principal, project: Project, old: Deployment): Promise<void> {
    const { id, projectId, pullRequest, source } = old;
    if (!pullRequest) return;
    if (pullRequest.fork) demand(by, "deployment:admin", { id, projectId });
    const linked = deployedRepository({ source }, project, ports.githostUrl);
    const { gitAccess, gitOwner } = project.settings;
    const isElsewhere = gitOwner === undefined || (gitAccess === true && linked === undefined);
    const obstacle = isElsewhere
      ? "the project is linked to another repository now"
      : await pullRequestObstacle(ports, project, old);
    if (obstacle === undefined) return;
    throw invalid("pull_request_ended", `Cannot deploy this preview again: ${obstacle}`);
  };
}

/**
 * The overrides of a deployment that also apply to its redeploy. What only its caller's permissions allowed, skipping
 * the approval or using any local folder, does not carry over.
 */
export function carriedOver({ branch, own = {} }: Deployment): DeploymentOverrides {
  const { localPathByAdmin: _, requireApproval, ...rest } = own;
  return { ...rest, ...(branch !== null && { branch }), ...(requireApproval && { requireApproval }) };
}

/**
 * Rolls back to a former release with its recorded artifact, environment and plan. If the artifact is gone, rebuilds it
 * from its commit, after an approval where the project requires one.
 */
export function rollback(ports: RedeployPorts) {
  const find = findDeployment(ports);
  const make = makeDeployment(ports);
  const checkPullRequest = pullRequestCheck(ports);
  return async function (by: Principal, id: string): Promise<Deployment> {
    const old = await find(by, id, "deployment:write");
    demand(by, "deployment:admin", { id, projectId: old.projectId });
    const project = await ports.projects.find(by.organizationId, old.projectId);
    if (!project) throw notFound("deployment");
    await checkPullRequest(by, project, old);
    if (old.status !== "ready")
      throw invalid("not_a_release", `Cannot go back to this deployment: its status is "${old.status}"`);
    const fallback = old.commitSha && originOf(old) === "git" ? exactCommit(old) : null;
    if (!old.artifactAvailable && !fallback) {
      throw invalid(
        "artifact_gone",
        "Cannot go back to this deployment: its files were cleaned up, and there is no commit to rebuild",
      );
    }
    const { branch, framework, plan, image } = old;
    const serviceSet = await ports.serviceSets.read(old.id);
    const deploymentId = old.artifactOf ?? old.id;
    const source: DeploymentSource = { kind: "artifact", deploymentId, fallback, ...localPathOf(old) };
    const recorded = { values: await ports.deployments.environment(old.id), secretKeys: old.secretKeys };
    return make(project, {
      trigger: "rollback",
      rollbackOf: old.id,
      environment: old.environment,
      ...(old.pullRequest && { pullRequest: old.pullRequest }),
      source,
      commit: commitOf(old),
      branch,
      framework,
      plan,
      own: carriedOver(old),
      image,
      recorded,
      ...(serviceSet && { serviceSet: { ...serviceSet, wanted: recordsIn(serviceSet), instead: null } }),
    });
  };
}
