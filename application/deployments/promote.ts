import { commitOf } from "../../domain/deployments/commit.ts";
import { recordsIn } from "../../domain/services/service_set.ts";
import { resolveEndpoints } from "../../domain/services/resolve_endpoints.ts";
import type { Deployment, DeploymentSource } from "../../domain/deployments/deployment.ts";
import { type Failure, invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { claimEndpointNames } from "../domains/claim_endpoint_names.ts";
import { findDeployment } from "./find_deployment.ts";
import { makeDeployment } from "./make_deployment.ts";
import { carriedOver, type RedeployPorts } from "./redeploy.ts";
import { exactCommit, localPathOf, originOf } from "./sources/source_again.ts";

/**
 * Promotes a ready preview to production without a build: its artifact and plan as recorded, with the variables and
 * endpoints that the project has when the deployment starts.
 */
export function promote(ports: RedeployPorts) {
  const find = findDeployment(ports);
  const make = makeDeployment(ports);
  const claimNames = claimEndpointNames(ports);
  return async function (by: Principal, id: string): Promise<Deployment> {
    const preview = await find(by, id, "deployment:admin");
    const project = await ports.projects.find(by.organizationId, preview.projectId);
    if (!project) throw notFound("deployment");
    const refusal = whyNot(preview);
    if (refusal) throw refusal;
    const own = carriedOver(preview);
    const publicEndpoints = own.publicEndpoints ?? project.settings.publicEndpoints ?? [];
    const serviceSet = await ports.serviceSets.read(preview.id);
    if (serviceSet?.given) resolveEndpoints(serviceSet.given, publicEndpoints);
    // Previews claim no host names.
    await claimNames(by, project, publicEndpoints);
    const { branch, framework, image, plan } = preview;
    return make(project, {
      trigger: "manual",
      environment: "production",
      source: artifactOf(preview),
      commit: commitOf(preview),
      branch,
      framework,
      plan: { ...plan, publicEndpoints },
      own,
      image,
      ...(serviceSet && { serviceSet: { ...serviceSet, wanted: recordsIn(serviceSet), instead: null } }),
    });
  };
}

function artifactOf(preview: Deployment): DeploymentSource {
  return {
    kind: "artifact",
    deploymentId: preview.artifactOf ?? preview.id,
    fallback: preview.commitSha && originOf(preview) === "git" ? exactCommit(preview) : null,
    promotes: preview.id,
    ...localPathOf(preview),
  };
}

function whyNot({ artifactAvailable, environment, pullRequest, status }: Deployment): Failure | undefined {
  if (environment !== "preview") {
    return invalid(
      "not_a_preview",
      "Cannot promote this deployment: it is not a preview. Roll back to it to bring it live again",
    );
  }
  if (pullRequest?.fork) {
    return invalid(
      "fork_not_promotable",
      "Cannot promote this preview: its pull request comes from a fork, which must not see the project's variables. Merge it instead",
    );
  }
  if (status !== "ready") {
    return invalid(
      "preview_not_ready",
      `Cannot promote this preview: its status is "${status}". Promote one that is ready`,
    );
  }
  if (artifactAvailable) return undefined;
  return invalid(
    "artifact_gone",
    "Cannot promote this preview: its files were cleaned up. Redeploy it, then promote the new preview",
  );
}
