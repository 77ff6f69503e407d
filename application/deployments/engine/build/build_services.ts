import type { DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import type { Failure } from "../../../../domain/failure.ts";
import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import type {
  ServiceApp,
  ServiceDockerfile,
  ServiceOrigin,
  ServiceSpec,
} from "../../../../domain/services/service_spec.ts";
import { isSite, USUAL_PORT } from "../../../../domain/services/sole_service.ts";
import { NOTHING_DETECTED } from "../../../../domain/detection/detection.ts";
import type { BuiltImage } from "../../../../ports/deployments/image_builder.ts";
import { detectIn } from "../../sources/detect_in.ts";
import { settledPlan } from "../../../../domain/services/app_plan.ts";
import { buildInFolder, commandsOf } from "./build_in_folder.ts";
import { buildTag, buildUnit, type ImageUnit, imageBuildPlan, declaredPort, extractSite } from "./build_image.ts";
import { fitProcesses } from "./choose_services_runtime.ts";
import { withBuildTimeout } from "./build_timeout.ts";
import { folderDigests, isBuiltInFolder, mountedDigest } from "./service_digests.ts";
import { isOwnFailure } from "../changeover/own_failure.ts";
import { listensOn, published } from "../../../../domain/services/published_ports.ts";
import { recordsOf } from "../../../services/records_of.ts";
import { refuseMissingFolder } from "./refuse_missing_folder.ts";
import { artifactGone } from "../../../services/release_folder.ts";
import { type Run, logLine, store } from "../run.ts";
import { publishService } from "../changeover/service_ledger.ts";
import { Slots } from "../../../system/slots.ts";

/** A run with the ports of this step. */
type StepRun = Run<
  | "builder"
  | "imageBuilder"
  | "imageRegistry"
  | "liveReleases"
  | "manifestParser"
  | "releaseFolders"
  | "releaseImages"
  | "serviceSets"
>;

/** A service that is built from the source. */
type BuiltSpec = ServiceSpec & { readonly from: ServiceApp | ServiceDockerfile };

interface BuildOptions {
  /** The service in the live release. */
  readonly former: ServiceRecord | undefined;
  readonly inTurn: Slots;
  /** Input digests of the services that are built in the release folder, by service name. */
  readonly digests: ReadonlyMap<string, string>;
  /** Whether all services could run as processes, without an image. */
  readonly fitsProcess: boolean;
  /** The image builds of this deployment, by input digest. */
  readonly images: Map<string, SharedBuild>;
  readonly signal: AbortSignal;
}

/** An image build that is shared by all services with the same input. */
interface SharedBuild {
  readonly service: string;
  readonly image: Promise<BuiltImage>;
}

/** A service after its build, with the port that it was found to listen on. */
interface Made {
  readonly record: ServiceRecord;
  readonly port: number | null;
}

/**
 * Builds every service, several at once, and pulls the images of the others. An image whose input is unchanged is taken
 * over from the live release. A failed service is recorded with the reason, as long as another one can go live without
 * it.
 */
export async function buildServices(run: StepRun): Promise<void> {
  const { serviceSets, liveReleases } = run.ports;
  const { id, plan, projectId } = run.deployment;
  const serviceSet = await serviceSets.read(id);
  if (!serviceSet) throw artifactGone();
  const live = await liveReleases.find(projectId);
  const former = live ? await recordsOf(run.ports, live.deployment) : [];
  await buildTag(run);
  // Builds in the release folder itself run one at a time.
  const inTurn = new Slots(1);
  // Computed before any build, because builds are not reproducible.
  const digests = await folderDigests(run, serviceSet.wanted);
  const fitsProcess = fitProcesses(serviceSet.wanted.map(({ spec }) => spec));
  const shared = { inTurn, digests, fitsProcess, images: new Map<string, SharedBuild>() };
  const made = await all(run, serviceSet.wanted, ({ spec }, signal) =>
    make(run, spec, { ...shared, former: former.find((known) => known.spec.name === spec.name), signal }),
  );
  const publicEndpoints = plan.publicEndpoints.map((endpoint) => {
    const { port, record } = made.find((each) => each.record.spec.name === endpoint.service)!;
    const standIn = former.find(({ spec }) => spec.name === endpoint.service);
    return { ...endpoint, port: endpoint.port ?? (record.failure ? portOf(record, standIn) : listensOn(record, port)) };
  });
  const wanted = made.map(({ record }) => published(record, publicEndpoints));
  await serviceSets.write(id, { ...serviceSet, wanted, instead: null });
  await store(run, (deployment) => ({ ...deployment, plan: { ...deployment.plan, publicEndpoints } }));
}

/**
 * Works on all services at once, limited by the build slots. A failure that concerns more than one service aborts the
 * others before it is thrown.
 */
async function all(
  run: Run,
  records: readonly ServiceRecord[],
  work: (record: ServiceRecord, signal: AbortSignal) => Promise<Made>,
): Promise<readonly Made[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const { buildSlots } = run.settings;
  const { environment, organizationId: owner } = run.deployment;
  const failures: Failure[] = [];
  const works = records.map((record) =>
    buildSlots
      .run(() => withBuildTimeout(run, `build ${record.spec.name}`, (ended) => work(record, ended), signal), {
        signal,
        owner,
      })
      .catch(async (error: unknown) => {
        if (signal.aborted || !isOwnFailure(error)) throw error;
        failures.push(error);
        if (records.length > 1) logLine(run, "build", error.message, "error");
        const failed = await notBuilt(run, record, error);
        // A preview comes up completely or not at all.
        if (environment === "preview") throw error;
        return failed;
      })
      .catch((error: unknown) => {
        stop.abort(error);
        throw error;
      }),
  );
  await Promise.allSettled(works);
  // The first failure is the cause; the others were only aborted.
  if (!run.signal.aborted && stop.signal.aborted) throw stop.signal.reason;
  const made = await Promise.all(works);
  if (failures.length === made.length && failures.length > 0) throw failures[0];
  return made;
}

/** Records a service that failed to build and has nothing to run. */
async function notBuilt(run: Run, { spec }: ServiceRecord, { code, message }: Failure): Promise<Made> {
  const failure = { code, message: run.writer.masked(message) };
  await publishService(run, spec.name, { status: "failed", error: failure.message });
  return { record: { spec, image: null, madeFrom: null, failure }, port: null };
}

async function make(run: StepRun, spec: ServiceSpec, options: BuildOptions): Promise<Made> {
  await publishService(run, spec.name, { status: "building" });
  const { from } = spec;
  const made =
    from.kind === "image"
      ? await fetched(run, spec, from, options.signal)
      : await built(run, { ...spec, from }, options);
  await publishService(run, spec.name, { status: "pending" });
  return made;
}

async function fetched(
  run: StepRun,
  spec: ServiceSpec,
  { reference, pull }: Extract<ServiceOrigin, { kind: "image" }>,
  signal: AbortSignal,
): Promise<Made> {
  const { id, projectId } = run.deployment;
  const { image, port } = await run.ports.imageRegistry.fetch({
    reference,
    pull,
    owner: { deploymentId: id, projectId, service: spec.name },
    signal,
    log: (line, stream) => run.writer.line(line, { step: "build", service: spec.name, stream }),
  });
  return { record: { spec, image, madeFrom: await mountedDigest(run, spec) }, port };
}

async function built(run: StepRun, spec: BuiltSpec, options: BuildOptions): Promise<Made> {
  await refuseMissingFolder(run, spec.name, spec.from);
  const plan = settledPlan(spec, run.deployment.plan.runtime);
  return isBuiltInFolder(plan) ? builtFolder(run, spec, plan, options) : builtImage(run, spec, plan, options);
}

async function builtFolder(
  run: StepRun,
  spec: BuiltSpec,
  plan: DeploymentPlan,
  { digests, inTurn, signal }: BuildOptions,
): Promise<Made> {
  const commands = commandsOf(plan);
  for (const { name, command } of commands) logLine(run, "build", `${spec.name}: ${name}: ${command}`);
  if (commands.length > 0) {
    const unit = { service: spec.name, rootDirectory: plan.rootDirectory };
    await inTurn.run(() => buildInFolder(run, unit, commands, signal), { signal });
  }
  return { record: { spec, image: null, madeFrom: digests.get(spec.name) ?? null }, port: plan.port };
}

async function builtImage(
  run: StepRun,
  spec: BuiltSpec,
  plan: DeploymentPlan,
  { fitsProcess, former, images, signal }: BuildOptions,
): Promise<Made> {
  const { id, projectId } = run.deployment;
  const { from, name } = spec;
  const root = plan.rootDirectory === null ? "" : `${plan.rootDirectory}/`;
  const found = from.kind === "app" ? await detectIn(run.ports, id, root) : NOTHING_DETECTED;
  const unit: ImageUnit = {
    service: name,
    plan,
    text: from.kind === "dockerfile" ? from.text : null,
    givesVariables: from.kind === "app",
    fitsProcess,
  };
  const buildPlan = await imageBuildPlan(run, unit, found);
  const mounts = await mountedDigest(run, spec);
  const digest = await run.ports.imageBuilder.identify(buildPlan);
  const madeFrom = [digest, ...(mounts === null ? [] : [mounts])].join("+");
  const resolved = isSite(spec) ? spec : withPort(spec, plan);
  if (former && former.image !== null && former.madeFrom === madeFrom && !isSite(spec)) {
    const port = former.spec.ports[0] ?? null;
    const isKnown = spec.ports.length > 0 || port !== null || !isPublic(run, name);
    if (isKnown && (await run.ports.releaseImages.keep(former.image, { deploymentId: id, projectId, service: name }))) {
      logLine(run, "build", `${name} is unchanged: nothing has to be built`);
      return { record: { spec: resolved, image: former.image, madeFrom }, port };
    }
  }
  const build = () => buildUnit(run, unit, buildPlan, signal);
  const image = isSite(spec) ? await build() : await builtOnce(run, name, build, { digest, images });
  if (isSite(spec)) {
    await extractSite(run, unit, found, image.image);
    return { record: { spec, image: null, madeFrom }, port: null };
  }
  logLine(run, "build", `The image of ${name} is ${image.image.slice(0, 19)}`);
  return {
    record: { spec: resolved, image: image.image, madeFrom },
    port: declaredPort(unit, buildPlan, found, image),
  };
}

/** Builds an image, unless another service already builds the same: then its image is kept for this service too. */
async function builtOnce(
  run: StepRun,
  service: string,
  build: () => Promise<BuiltImage>,
  { digest, images }: { readonly digest: string } & Pick<BuildOptions, "images">,
): Promise<BuiltImage> {
  const { id: deploymentId, projectId } = run.deployment;
  const other = images.get(digest);
  if (!other) {
    const own = { service, image: build() };
    images.set(digest, own);
    return own.image;
  }
  logLine(run, "build", `${service} is made from the same as ${other.service}: it is built once for both`);
  const found = await other.image;
  if (await run.ports.releaseImages.keep(found.image, { deploymentId, projectId, service })) return found;
  return build();
}

/** Sets `PORT` for an app in an image, whether or not the service is public. */
function withPort(spec: BuiltSpec, plan: DeploymentPlan): ServiceSpec {
  if (spec.from.kind !== "app") return spec;
  return { ...spec, environment: { ...spec.environment, PORT: `${plan.port ?? USUAL_PORT}` } };
}

function isPublic({ deployment }: Run, name: string): boolean {
  return deployment.plan.publicEndpoints.some(({ service }) => service === name);
}

/** The port of a service that failed to build; its former version serves visitors meanwhile. */
function portOf({ spec }: ServiceRecord, former: ServiceRecord | undefined): number {
  return spec.ports[0] ?? former?.spec.ports[0] ?? USUAL_PORT;
}
