import type { DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import type { Detection } from "../../../../domain/detection/detection.ts";
import { startCommandIn, warningsIn } from "../../../../domain/detection/in_runtime.ts";
import { obstacle, placed } from "../../../../domain/detection/obstacle.ts";
import { invalid } from "../../../../domain/failure.ts";
import { ownVariables, sharedVariables } from "../../../../domain/projects/service_variables.ts";
import type { RuntimeName } from "../../../../domain/projects/project.ts";
import { Secret } from "../../../../domain/secret.ts";
import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import { checkSwaps } from "../../../../domain/services/check_swaps.ts";
import { resolveEndpoints } from "../../../../domain/services/resolve_endpoints.ts";
import {
  PLAIN_CONTAINER,
  type ServiceApp,
  type ServiceDockerfile,
  type ServiceOrigin,
  type ServiceSpec,
} from "../../../../domain/services/service_spec.ts";
import { innerPath } from "../../../../domain/services/sole_service.ts";
import { checkHostMounts } from "../../../projects/check_host_mounts.ts";
import { loadCompose } from "../../sources/load_compose.ts";
import { detectIn } from "../../sources/detect_in.ts";
import { plannedService, servicePlan } from "../../../../domain/services/app_plan.ts";
import { chooseRuntime } from "./choose_runtime.ts";
import { chooseServicesRuntime } from "./choose_services_runtime.ts";
import { holdsFolder } from "./holds_folder.ts";
import { noteContainers } from "./note_containers.ts";
import { keepAddress } from "../changeover/compare_with_live.ts";
import { buildFolder } from "./refuse_missing_folder.ts";
import { type Run, logLine, store } from "../run.ts";
import { pendingService } from "../changeover/service_ledger.ts";
import { sayPort } from "./say_port.ts";
import { settlePlan } from "../../../../domain/deployments/settle_plan.ts";

/** A run with the ports of this step. */
type StepRun = Run<
  | "containerEngine"
  | "hostFolders"
  | "installation"
  | "liveReleases"
  | "manifestParser"
  | "releaseFolders"
  | "serverEngines"
  | "serviceSets"
  | "yamlReader"
>;

/**
 * Resolves which services a deployment consists of, and how each is built and run: as given, else as detected in the
 * source.
 */
export async function resolveServices(run: StepRun, found: Detection | null): Promise<void> {
  const { serviceSets } = run.ports;
  const { id, plan } = run.deployment;
  const given = (await serviceSets.read(id))?.given ?? null;
  const specs = given ? withVariables(run.environment, given) : await detectedServices(run, found!);
  if (specs.length === 0) throw invalid("no_services", "Cannot deploy this: it names no service. Add one");
  const mounting = { ...run.project, isOfPullRequest: run.deployment.pullRequest !== undefined };
  await checkHostMounts({ ...run.ports, localSources: run.settings.localSources })(mounting, specs);
  const { containerEngine } = run.ports;
  const runtime = await chooseServicesRuntime(specs, {
    wanted: plan.runtime ?? run.settings.runtime,
    containerEngine,
    isOnServer: plan.serverId !== undefined,
  });
  if (runtime === "docker") await noteContainers(run.ports, plan);
  if (!found?.composeFile) {
    sayPort(
      run,
      runtime,
      specs.map(({ name }) => name),
    );
  }
  const recognised: ServiceSpec[] = [];
  for (const spec of specs) recognised.push(await recognise(run, spec, runtime));
  checkSwaps(recognised, { sites: true });
  const publicEndpoints = resolveEndpoints(recognised, plan.publicEndpoints).map(({ port, ...endpoint }) => ({
    ...endpoint,
    ...(port !== null && { port }),
  }));
  await keepAddress(run, publicEndpoints, { isAdopted: recognised.some(({ container }) => container.recipe) });
  const wanted = recognised.map((spec): ServiceRecord => ({ spec, image: null, madeFrom: null }));
  await serviceSets.write(id, { given, wanted, instead: null });
  logLine(run, "detect", `Found ${count(recognised)}: ${recognised.map(({ name }) => name).join(", ")}`);
  await store(run, (deployment) => ({
    ...deployment,
    plan: { ...deployment.plan, projectType: "services", runtime, publicEndpoints },
    services: recognised.map(({ name }) => pendingService(name, null)),
  }));
}

/**
 * Adds the project's variables to services that were given or found as parts of a repository: those of one service take
 * precedence over its definition, and its definition over those for every service. A compose file declares itself which
 * of the latter a service gets.
 */
export function withVariables(
  environment: ReadonlyMap<string, Secret>,
  specs: readonly ServiceSpec[],
): readonly ServiceSpec[] {
  const variables = revealed(sharedVariables(environment));
  const { PORT: _, ...others } = variables;
  return specs.map((spec) => {
    // A service that declares its ports does not get the project's `PORT`.
    const seen = spec.ports.length > 0 ? others : variables;
    const own = revealed(ownVariables(environment, spec.name));
    return { ...spec, environment: { ...seen, ...spec.environment, ...own } };
  });
}

function revealed(variables: ReadonlyMap<string, Secret>): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(variables, ([name, value]) => [name, value.reveal()]));
}

async function detectedServices(run: StepRun, found: Detection): Promise<readonly ServiceSpec[]> {
  const { deployment, environment } = run;
  const { services, warnings } = await servicesInSource(run, found, { folder: deployment.id, environment });
  for (const warning of warnings) logLine(run, "detect", run.writer.masked(warning), "warn");
  return services;
}

/** The path of the project inside its source: empty, or like `apps/shop/`. */
export function resolveRoot({ rootDirectory }: Pick<DeploymentPlan, "rootDirectory">): string {
  return rootDirectory ? `${rootDirectory.replace(/^\.\//, "").replace(/\/$/, "")}/` : "";
}

/** The services in the source of a release folder, with their environment. */
export async function servicesInSource(
  { deployment, ports }: Pick<Run<"releaseFolders" | "yamlReader">, "deployment" | "ports">,
  found: Detection,
  { folder, environment }: { readonly folder: string; readonly environment: ReadonlyMap<string, Secret> },
): Promise<{ readonly services: readonly ServiceSpec[]; readonly warnings: readonly string[] }> {
  const root = innerPath(deployment.plan.rootDirectory, found.rootDirectory);
  if (found.composeFile !== null) {
    const options = { root: root === "" ? "" : `${root}/`, file: found.composeFile, variables: environment };
    return loadCompose(ports)(folder, options);
  }
  const parts = found.services.map(({ name, rootDirectory }) => part(name, innerPath(root, rootDirectory)));
  return { services: withVariables(environment, parts), warnings: found.warnings };
}

/** A part of a repository that is a project itself. */
function part(name: string, rootDirectory: string): ServiceSpec {
  const from: ServiceApp = {
    kind: "app",
    rootDirectory,
    framework: null,
    packageManager: null,
    installCommand: null,
    buildCommand: null,
    startCommand: null,
    outputDirectory: null,
  };
  return { name, from, environment: {}, ports: [], dependsOn: [], oneShot: false, container: PLAIN_CONTAINER };
}

/** Detects how a service from the source is built. */
async function recognise(run: StepRun, spec: ServiceSpec, runtime: RuntimeName): Promise<ServiceSpec> {
  // The build of this service reports the missing folder, and the other services continue.
  if (!(await holdsFolder(run, buildFolder(spec.from) ?? ""))) return spec;
  if (!(await needsDetection(run, spec))) return spec;
  const app = { ...spec, from: asApp(spec.from) };
  const root = app.from.rootDirectory;
  const found = await detectIn(run.ports, run.deployment.id, root === "" ? "" : `${root}/`);
  const { containerEngine } = run.ports;
  const { PORT } = app.environment;
  const environment = new Map(PORT === undefined ? [] : [["PORT", new Secret(PORT)]]);
  const setting = { environment, preset: runtime };
  const plan = settlePlan(servicePlan(app, runtime), found, setting);
  if (plan.projectType === "services" || (plan.projectType === "app" && plan.startCommand === null)) {
    throw invalid("nothing_to_start", notStartable(spec, root, found));
  }
  await chooseRuntime({ plan, found }, { containerEngine, preset: runtime });
  const startCommand = startCommandIn(runtime, plan.startCommand, found);
  const warnings = warningsIn(runtime, startCommand, found);
  for (const warning of warnings) logLine(run, "detect", `${spec.name}: ${warning}`, "warn");
  return plannedService(app, { ...plan, startCommand });
}

function notStartable({ name }: ServiceSpec, root: string, found: Detection): string {
  const start = `Cannot tell how to start ${name} in ${root === "" ? "the source" : root}`;
  const why = obstacle(found);
  if (why === undefined) return `${start}: set its startCommand or build`;
  const [, reason] = /^Cannot tell how to start the project: (.*)$/.exec(why) ?? [];
  if (reason !== undefined) return `${start}: ${reason}`;
  return root === "" ? why : placed(why, root);
}

/** A Dockerfile describes its own build; a `build` without any Dockerfile is detected like an app. */
async function needsDetection({ deployment, ports }: StepRun, { from }: ServiceSpec): Promise<boolean> {
  if (from.kind === "image") return false;
  if (from.kind === "app") return true;
  if (from.text !== null || from.dockerfile !== null || from.target !== null) return false;
  return (await ports.releaseFolders.digest(deployment.id, innerPath(from.context, "Dockerfile"))) === undefined;
}

function asApp(from: ServiceOrigin): ServiceApp {
  if (from.kind === "app") return from;
  return part("", (from as ServiceDockerfile).context).from as ServiceApp;
}

function count({ length }: readonly unknown[]): string {
  return length === 1 ? "1 service" : `${length} services`;
}
