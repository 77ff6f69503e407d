import type { Deployment, DeploymentSource, OwnWishes } from "../../domain/deployment/deployment.ts";
import { isRunning } from "../../domain/deployment/transitions.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/permission.ts";
import type { Project } from "../../domain/project.ts";
import { recordsIn } from "../../domain/composition/composition.ts";
import { resolveEndpoints } from "../../domain/composition/resolve_endpoints.ts";
import type { ServiceSpec } from "../../domain/composition/service_spec.ts";
import { sourceNeed } from "../../domain/composition/source_need.ts";
import type { Compositions } from "../../ports/compositions.ts";
import { claimEndpointNames } from "../domains/claim_endpoint_names.ts";
import { checkDeployedPath } from "../projects/check_deployed_path.ts";
import { servicesOf } from "../projects/services_of.ts";
import type { DeployProjectPorts } from "./deploy_project.ts";
import { findDeployment } from "./find_deployment.ts";
import { linkedSource } from "./linked_source.ts";
import { type DeploymentWish, makeDeployment, planOf } from "./make_deployment.ts";

export interface RedeployPorts extends DeployProjectPorts {
  readonly compositions: Compositions;
}

type Origin = Pick<DeploymentWish, "source" | "branch" | "commitSha" | "commitMessage">;

/**
 * Builds a deployment's project anew: the latest commit of its branch, or exactly its own with `useExistingCommit`. What was said about that deployment alone
 * counts again; the rest is as its project says now.
 */
export function redeploy(ports: RedeployPorts) {
  const find = findDeployment(ports);
  const make = makeDeployment(ports);
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
    const { environment } = old;
    const own = carriedOver(old);
    const given = own?.services ? await givenTo(old) : await findServices(project);
    const from = originAgain(ports, { old, project, given, useExistingCommit });
    if (from.source.kind === "local") await checkPath(by, project, from.source.path);
    const publicEndpoints = own?.publicEndpoints ?? project.settings.publicEndpoints ?? [];
    if (given) resolveEndpoints(given, publicEndpoints);
    // Those that came with the former one were claimed for it; whoever gave one up since does not want it back.
    if (!own?.publicEndpoints && environment !== "preview") await claimNames(by, project, publicEndpoints);
    return make(project, {
      ...from,
      trigger: "redeploy",
      redeployOf: old.id,
      environment,
      own,
      plan: { ...planOf(project), publicEndpoints },
      ...(given && { given }),
    });
  };

  async function givenTo({ id }: Deployment): Promise<readonly ServiceSpec[] | undefined> {
    return (await ports.compositions.read(id))?.given ?? undefined;
  }
}

interface Again {
  readonly old: Deployment;
  readonly project: Project;
  readonly given: readonly ServiceSpec[] | undefined;
  readonly useExistingCommit: boolean;
}

/** What a deployment is built from when it is built anew. */
function originAgain(ports: RedeployPorts, { old, project, given, useExistingCommit }: Again): Origin {
  const kind = originOf(old)?.kind;
  const now = { given, branch: old.branch ?? undefined };
  if (kind === "none" || (given && sourceNeed(given) === "nothing")) return linkedSource(ports, project, now);
  if (kind !== "git" && kind !== "local") return { source: copyOf(old) };
  if (!useExistingCommit) return linkedSource(ports, project, now);
  if (kind === "local") return { source: copyOf(old) };
  const { commitSha, commitMessage, branch } = old;
  return { source: exactly(old), commitSha, commitMessage, branch };
}

/** What was said about a deployment alone and counts for a redeploy of it too. Whoever left an approval out did so for that one. */
function carriedOver({ branch, own = {} }: Deployment): OwnWishes {
  const { requireApproval, ...rest } = own;
  return { ...rest, ...(branch !== null && { branch }), ...(requireApproval && { requireApproval }) };
}

/** Goes back to a former release: its artifact, environment and plan as recorded; built anew from its commit, once that is approved where the project asks for it, when the artifact is gone. */
export function rollback(ports: RedeployPorts) {
  const find = findDeployment(ports);
  const make = makeDeployment(ports);
  return async function (by: Principal, id: string): Promise<Deployment> {
    const old = await find(by, id, "deployment:write");
    demand(by, "deployment:admin", { id, projectId: old.projectId });
    const project = await ports.projects.find(by.organizationId, old.projectId);
    if (!project) throw notFound("deployment");
    if (old.status !== "ready")
      throw invalid("not_a_release", `Cannot go back to this deployment: its status is "${old.status}"`);
    const fallback = old.commitSha && originOf(old)?.kind === "git" ? exactly(old) : null;
    if (!old.artifactAvailable && !fallback) {
      throw invalid(
        "artifact_gone",
        "Cannot go back to this deployment: its files were cleaned up, and there is no commit to build anew",
      );
    }
    const { commitSha, commitMessage, branch, plan, image } = old;
    const composition = await ports.compositions.read(old.id);
    const source: DeploymentSource = { kind: "artifact", deploymentId: old.artifactOf ?? old.id, fallback };
    const recorded = { values: await ports.deployments.environment(old.id), secretKeys: old.secretKeys };
    return make(project, {
      trigger: "rollback",
      rollbackOf: old.id,
      environment: old.environment,
      source,
      commitSha,
      commitMessage,
      branch,
      plan,
      own: carriedOver(old),
      image,
      recorded,
      ...(composition && { composition: { ...composition, wanted: recordsIn(composition), instead: null } }),
    });
  };
}

/** Where the code of a deployment came from at first. */
function originOf({ source }: Deployment): DeploymentSource | null {
  return source.kind === "artifact" ? source.fallback : source;
}

function exactly(deployment: Deployment): DeploymentSource {
  const origin = originOf(deployment);
  if (origin?.kind !== "git" || !deployment.commitSha) {
    throw invalid("no_commit", "Cannot build exactly this again: its commit is not known. Leave useExistingCommit out");
  }
  return { ...origin, commit: deployment.commitSha };
}

function copyOf(deployment: Deployment): DeploymentSource {
  if (isRunning(deployment) || !deployment.artifactAvailable) {
    throw invalid("artifact_gone", "Cannot build this again: its files are gone. Upload the folder again");
  }
  return { kind: "copy", deploymentId: deployment.artifactOf ?? deployment.id };
}
