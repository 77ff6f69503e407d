import type { Deployment, DeploymentSource } from "../../domain/deployment/deployment.ts";
import { isRunning } from "../../domain/deployment/transitions.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/permission.ts";
import { checkLocalPath } from "../projects/check_local_path.ts";
import { linked, type DeployProjectPorts } from "./deploy_project.ts";
import { findDeployment } from "./find_deployment.ts";
import { makeDeployment } from "./make_deployment.ts";

/** Builds a deployment's project anew: the latest commit of its branch, or exactly its own with `useExistingCommit`. */
export function redeploy(ports: DeployProjectPorts) {
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
    const again = { trigger: "redeploy", redeployOf: old.id, environment: old.environment } as const;
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
export function rollback(ports: DeployProjectPorts) {
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
      requireApproval: false,
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
