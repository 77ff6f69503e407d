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
import { linkedSource } from "../../linked_source.ts";
import { needsApproval, planOf } from "../../make_deployment.ts";
import type { BuildInput } from "./build_input.ts";
import { checkVariables } from "./check_variables.ts";
import { EventWriter } from "../event_writer.ts";
import { promotedInput } from "./promoted_input.ts";
import { type Run, say, store } from "../run.ts";

/**
 * Starts the build of a queued deployment, with the variables and settings that its project has now; what was said
 * about this deployment alone still counts. A rollback keeps what was recorded, and a promoted preview all but variables
 * and endpoints. Settings that do not fit any more fail it before anything of it is built.
 */
export async function beginBuild(run: Run): Promise<void> {
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

/** Tells what a redeploy has from the deployment before instead of from the project's settings. */
function sayWhatIsKept(run: Run): void {
  const { own = {}, redeployOf } = run.deployment;
  const kept = [...(own.services ? ["services"] : []), ...(own.publicEndpoints ? ["public endpoints"] : [])];
  if (redeployOf === null || kept.length === 0) return;
  const others = "those in the settings of the project count for new deployments";
  say(run, null, `Keeps the ${kept.join(" and ")} that were given for ${redeployOf}; ${others}`);
}

async function presentInput(run: Run): Promise<BuildInput> {
  const { deployment, ports, project, settings } = run;
  const { environment: target, id, own = {} } = deployment;
  const [environment, known] = await Promise.all([
    ports.variables.reveal(project.id),
    ports.variables.list(project.id),
  ]);
  const serviceSet = await ports.serviceSets.read(id);
  const given = own.services
    ? checkVariables(serviceSet?.given ?? [], environment)
    : await servicesOf({ ...ports, localSources: settings.localSources })(project);
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
      secretKeys: known.filter(({ secret }) => secret).map(({ key }) => key),
      framework: plan.framework,
      plan: { ...plan, publicEndpoints, ...(given && { projectType: "services" }) },
    },
  };
}

/** Keeps which services there are, as long as nothing was recognised. */
async function recordGiven(
  { deployment, ports }: Run,
  before: ServiceSet | undefined,
  given: readonly ServiceSpec[] | undefined,
): Promise<void> {
  if (deployment.own?.services || (!given && !before)) return;
  await ports.serviceSets.write(deployment.id, { given: given ?? null, wanted: [], instead: null });
}

/** What it is fetched from, where that is what its project is linked to; an upload and a certain commit stay what they are. */
async function presentSource(
  run: Run,
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

/** Refuses a folder of the machine that cannot be the source any more; whoever asked for the deployment may have been allowed this one. */
async function checkFolder(run: Run, found: DeploymentSource): Promise<void> {
  const { deployment, ports, project, settings } = run;
  const { own, source } = deployment;
  if (found.kind !== "local") return;
  const isAsAsked = source.kind === "local" && source.path === found.path;
  if (isAsAsked && own?.localPathByAdmin) return;
  await checkDeployedPath({ ...ports, localSources: settings.localSources })(null, project, found.path);
}
