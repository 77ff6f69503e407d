import type { ServiceSet, ServiceRecord } from "../../../../domain/services/service_set.ts";
import { resolveEndpoints } from "../../../../domain/services/resolve_endpoints.ts";
import type { ServiceSpec } from "../../../../domain/services/service_spec.ts";
import { portNumber } from "../../../../domain/port_number.ts";
import type { DeploymentPlan, DeploymentSource } from "../../../../domain/deployments/deployment.ts";
import type { Secret } from "../../../../domain/secret.ts";
import { claimEndpointNames } from "../../../domains/claim_endpoint_names.ts";
import { deploymentVariables } from "../../deployment_variables.ts";
import { detectIn } from "../../sources/detect_in.ts";
import type { BuildInput } from "./build_input.ts";
import { checkVariables } from "../../../../domain/services/check_variables.ts";
import { keepAddress } from "../changeover/compare_with_live.ts";
import { listensOn, published } from "../../../../domain/services/published_ports.ts";
import { hasServices } from "../../../../domain/services/sole_service.ts";
import { resolveRoot, servicesInSource, withVariables } from "./resolve_services.ts";
import { type Run, logLine } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<
  | "domains"
  | "liveReleases"
  | "manifestParser"
  | "projects"
  | "releaseFolders"
  | "serviceSets"
  | "variables"
  | "yamlReader"
>;

type Artifact = Extract<DeploymentSource, { kind: "artifact" }>;
type Endpoints = DeploymentPlan["publicEndpoints"];

/**
 * What a promoted preview reads from its project: production's variables, and endpoints; everything else stays as built. Returns
 * `undefined` for a rollback.
 */
export async function promotedInput(run: StepRun, source: Artifact): Promise<BuildInput | undefined> {
  if (source.promotes === undefined) return undefined;
  const { deployment, ports, project, settings } = run;
  const target = { projectId: project.id, environment: "production" } as const;
  const { values: environment, secretKeys } = await deploymentVariables(ports, target);
  const { own = {}, plan } = deployment;
  const wanted = own.publicEndpoints ?? project.settings.publicEndpoints ?? [];
  if (!own.publicEndpoints) {
    const { baseDomain, publicHost } = settings;
    await claimEndpointNames({ ...ports, baseDomain, publicHost })(null, project, wanted);
  }
  const publicEndpoints = hasServices(deployment)
    ? await promoteServices(run, { environment, folder: source.deploymentId, wanted })
    : wanted;
  logLine(run, null, `The preview ${source.promotes} goes live as production`);
  return {
    environment,
    fields: { secretKeys, plan: { ...plan, publicEndpoints } },
  };
}

interface Promotion {
  readonly environment: ReadonlyMap<string, Secret>;
  /** The id of the deployment whose release folder has the files. */
  readonly folder: string;
  /** The endpoints, before they are resolved to services. */
  readonly wanted: Endpoints;
}

/** Records the services with their present environment and ports; resolves to the public endpoints. */
async function promoteServices(run: StepRun, { environment, folder, wanted }: Promotion): Promise<Endpoints> {
  const { serviceSets } = run.ports;
  const { id } = run.deployment;
  const serviceSet = await serviceSets.read(id);
  if (!serviceSet) return [];
  const present = await presentServices(run, serviceSet, { environment, folder });
  const records = serviceSet.wanted.map((record) =>
    withPresent(
      record,
      present.find(({ name }) => name === record.spec.name),
    ),
  );
  const endpoints = resolveEndpoints(
    records.map(({ spec }) => spec),
    wanted,
  ).map((endpoint) => {
    const record = records.find(({ spec }) => spec.name === endpoint.service)!;
    return { ...endpoint, port: endpoint.port ?? listensOn(record, null) };
  });
  await keepAddress(run, endpoints);
  await serviceSets.write(id, { ...serviceSet, wanted: records.map((record) => published(record, endpoints)) });
  return endpoints;
}

/** The services as they would be resolved now from the preview's source. */
async function presentServices(
  run: StepRun,
  { given }: ServiceSet,
  { environment, folder }: Omit<Promotion, "wanted">,
): Promise<readonly ServiceSpec[]> {
  if (given) return withVariables(environment, checkVariables(given, environment));
  if (!(await run.ports.releaseFolders.find(folder))) return [];
  const found = await detectIn(run.ports, folder, resolveRoot(run.deployment.plan));
  return (await servicesInSource(run, found, { folder, environment })).services;
}

/**
 * A service as built, with its present environment, ports and container settings. One that is no longer found stays
 * unchanged.
 */
function withPresent(record: ServiceRecord, present: ServiceSpec | undefined): ServiceRecord {
  if (!present) return record;
  const { environment, from, ports } = record.spec;
  // An app in an image keeps the `PORT` that it was built with.
  const getsPort = record.image !== null && from.kind === "app" && environment["PORT"] !== undefined;
  // A service with a Dockerfile gets its port from the variable `PORT`.
  const declared = from.kind === "dockerfile" ? portNumber(present.environment["PORT"]) : null;
  return {
    ...record,
    spec: {
      ...record.spec,
      container: present.container,
      environment: { ...present.environment, ...(getsPort && { PORT: environment["PORT"] }) },
      ports: [...new Set([...present.ports, ...(declared === null ? [] : [declared]), ...ports])],
    },
  };
}
