import type { Deployment, DeploymentSource } from "../../domain/deployment/deployment.ts";
import { isRunning } from "../../domain/deployment/transitions.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/permission.ts";
import type { Project } from "../../domain/project.ts";
import { recordsIn } from "../../domain/composition/composition.ts";
import { givenServices } from "../../domain/composition/given_services.ts";
import type { Compositions } from "../../ports/compositions.ts";
import { checkLocalPath } from "../projects/check_local_path.ts";
import { linked, type DeployProjectPorts } from "./deploy_project.ts";
import { findDeployment } from "./find_deployment.ts";
import { type DeploymentWish, makeDeployment, planOf } from "./make_deployment.ts";

export interface RedeployPorts extends DeployProjectPorts {
  readonly compositions: Compositions;
}

/** Builds a deployment's project anew: the latest commit of its branch, or exactly its own with `useExistingCommit`. */
export function redeploy(ports: RedeployPorts) {
  const find = findDeployment(ports);
  const make = makeDeployment(ports);
  const checkPath = checkLocalPath(ports);
  return async function (
    by: Principal,
    id: string,
    { useExistingCommit = false }: { readonly useExistingCommit?: boolean },
  ): Promise<Deployment> {
    const old = await find(by, id, "deployment:write");
    const project = await ports.projects.find(by.organizationId, old.projectId);
    if (!project) throw notFound("deployment");
    const again = {
      trigger: "redeploy",
      redeployOf: old.id,
      environment: old.environment,
      ...(await sameServices(ports, project, old)),
    } as const;
    if (old.source.kind === "none") return make(project, { ...again, source: old.source });
    if (originOf(old)?.kind === "git") {
      if (!useExistingCommit) return make(project, { ...linked(ports, project, old.branch ?? undefined), ...again });
      const { commitSha, commitMessage, branch } = old;
      return make(project, { ...again, source: exactly(old), commitSha, commitMessage, branch });
    }
    const origin = originOf(old);
    if (origin?.kind !== "local") return make(project, { ...again, source: copyOf(old) });
    await checkPath(by, origin.path);
    return make(project, { ...again, source: origin });
  };
}

/** Goes back to a former release: its artifact, environment and plan as recorded; built anew from its commit when the artifact is gone. */
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
      image,
      recorded,
      ...(composition && { composition: { ...composition, wanted: recordsIn(composition), instead: null } }),
      requireApproval: false,
    });
  };
}

/** The services of the project as they are set now; those of a deployment that brought its own come along with its endpoints, and so do those of an upload. */
async function sameServices(
  { compositions, variables }: RedeployPorts,
  project: Project,
  old: Deployment,
): Promise<Pick<DeploymentWish, "given" | "plan">> {
  const { services } = project.settings;
  if (services !== undefined && services.length > 0) {
    return { given: givenServices(services, await variables.reveal(project.id)) };
  }
  const given = (await compositions.read(old.id))?.given;
  const plan = { ...planOf(project), publicEndpoints: old.plan.publicEndpoints };
  if (given) return { given, plan };
  // What was uploaded is the same again: nobody has said that its addresses are to lead elsewhere.
  const isCopied = originOf(old)?.kind !== "git" && originOf(old)?.kind !== "local";
  const hasOwn = old.plan.projectType === "services" && (project.settings.publicEndpoints ?? []).length === 0;
  return isCopied && hasOwn ? { plan } : {};
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
