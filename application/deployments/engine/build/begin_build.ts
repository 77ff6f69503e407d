import type { ServiceSet } from "../../../../domain/services/service_set.ts";
import { resolveEndpoints } from "../../../../domain/services/resolve_endpoints.ts";
import type { ServiceSpec } from "../../../../domain/services/service_spec.ts";
import type { Deployment, DeploymentSource } from "../../../../domain/deployments/deployment.ts";
import { secretMask } from "../../../../domain/deployments/secret_mask.ts";
import { secretValues } from "../../../../domain/deployments/secret_values.ts";
import { transition } from "../../../../domain/deployments/transitions.ts";
import { claimEndpointNames } from "../../../domains/claim_endpoint_names.ts";
import { checkDeployedPath } from "../../../projects/check_deployed_path.ts";
import { servicesOf } from "../../../projects/services_of.ts";
import { withRecipes } from "../../adopted_services.ts";
import { deploymentVariables } from "../../deployment_variables.ts";
import { linkedSource } from "../../sources/linked_source.ts";
import { needsApproval, planOf } from "../../make_deployment.ts";
import type { BuildInput } from "./build_input.ts";
import { checkVariables } from "../../../../domain/services/check_variables.ts";
import { EventWriter } from "../event_writer.ts";
import { promotedInput } from "./promoted_input.ts";
import { type Run, logLine, store } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<
  | "adoptions"
  | "domains"
  | "hostFolders"
  | "liveReleases"
  | "manifestParser"
  | "projects"
  | "releaseFolders"
  | "serviceSets"
  | "variables"
  | "yamlReader"
>;

/**
 * Starts the build of a queued deployment with the project's present settings and variables for its environment; the deployment's own
 * overrides still apply. A rollback keeps everything as recorded, and a promoted preview everything except variables
 * and endpoints. Settings that are no longer valid fail the deployment before anything is built.
 */
export async function beginBuild(run: StepRun): Promise<void> {
  const { clock } = run.ports;
  const { own, source } = run.deployment;
  const input = source.kind === "artifact" ? await promotedInput(run, source) : await presentInput(run);
  const fields = { requireApproval: needsApproval(run.project, own), ...input?.fields };
  const events = [{ type: "status", status: "building", decision: null }] as const;
  const begun = (deployment: Deployment) => transition({ ...deployment, ...fields }, "taken", { at: clock.now() });
  await store(run, begun, events, input && { environment: input.environment });
  if (!input) return;
  run.environment = input.environment;
  const secrets = secretValues(run.deployment, input.environment);
  run.writer = new EventWriter(run.ports, run.deployment.id, secretMask(secrets));
  sayWhatIsKept(run);
}

/** Logs which overrides a redeploy takes from the former deployment instead of the project's settings. */
function sayWhatIsKept(run: Run): void {
  const { own = {}, redeployOf } = run.deployment;
  const kept = [...(own.services ? ["services"] : []), ...(own.publicEndpoints ? ["public endpoints"] : [])];
  if (redeployOf === null || kept.length === 0) return;
  const others = "those in the settings of the project apply to new deployments";
  logLine(run, null, `Keeps the ${kept.join(" and ")} that were given for ${redeployOf}; ${others}`);
}

async function presentInput(run: StepRun): Promise<BuildInput> {
  const { deployment, ports, project, settings } = run;
  const { environment: target, id, own = {} } = deployment;
  const { values: environment, secretKeys } = await deploymentVariables(ports, deployment);
  const serviceSet = await ports.serviceSets.read(id);
  const given = own.services
    ? checkVariables(serviceSet?.given ?? [], environment, target)
    : await withRecipes(
        ports,
        project,
        await servicesOf({ ...ports, localSources: settings.localSources })(project, deployment),
        target,
      );
  const from = await presentSource(run, given);
  const publicEndpoints = own.publicEndpoints ?? project.settings.publicEndpoints ?? [];
  if (given) resolveEndpoints(given, publicEndpoints);
  if (!own.publicEndpoints && target !== "preview") {
    const { baseDomain, publicHost } = settings;
    await claimEndpointNames({ ...ports, baseDomain, publicHost })(null, project, publicEndpoints);
  }
  await recordGiven(run, serviceSet, given);
  const plan = planOf(project);
  return {
    environment,
    fields: {
      ...from,
      secretKeys,
      framework: plan.framework,
      plan: { ...plan, publicEndpoints, ...(given && { projectType: "services" }) },
    },
  };
}

/** Stores the services that the project's settings give, before detection. */
async function recordGiven(
  { deployment, ports }: StepRun,
  before: ServiceSet | undefined,
  given: readonly ServiceSpec[] | undefined,
): Promise<void> {
  if (deployment.own?.services || (!given && !before)) return;
  await ports.serviceSets.write(deployment.id, { given: given ?? null, wanted: [], instead: null });
}

/** Returns the source that the project is linked to now; an upload or a fixed commit stays unchanged. */
async function presentSource(
  run: StepRun,
  given: readonly ServiceSpec[] | undefined,
): Promise<Partial<Pick<Deployment, "source" | "branch">>> {
  const { own, source } = run.deployment;
  const isLinked =
    source.kind === "local" || source.kind === "none" || (source.kind === "git" && source.commit === null);
  if (!isLinked) return {};
  const found = linkedSource(run.settings, run.project, { given, branch: own?.branch });
  await checkFolder(run, found.source);
  return found;
}

/**
 * Rejects a local folder that may no longer be a source, unless the deployment was requested for this same folder by a
 * caller who may deploy any.
 */
async function checkFolder(run: StepRun, found: DeploymentSource): Promise<void> {
  const { deployment, ports, project, settings } = run;
  const { own, source } = deployment;
  if (found.kind !== "local") return;
  const isAsAsked = source.kind === "local" && source.path === found.path;
  if (isAsAsked && own?.localPathByAdmin) return;
  await checkDeployedPath({ ...ports, localSources: settings.localSources })(null, project, found.path);
}
