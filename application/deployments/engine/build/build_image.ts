import { buildCacheKey } from "../../../../domain/deployments/build_cache_key.ts";
import type { Deployment, DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import type { Detection } from "../../../../domain/detection/detection.ts";
import { dockerfileFacts } from "../../../../domain/detection/text/dockerfile_text.ts";
import type { ImageRecipe } from "../../../../domain/detection/image_recipe.ts";
import { Failure, invalid } from "../../../../domain/failure.ts";
import { dockerfileArguments } from "../../../../domain/image/dockerfile_arguments.ts";
import { generatedDockerfile, workingFolder as imageFolder } from "../../../../domain/image/generated_dockerfile.ts";
import { sharedVariables } from "../../../../domain/projects/service_variables.ts";
import { sameValues } from "../../../../domain/projects/variable.ts";
import { innerPath, SOLE_SERVICE, USUAL_PORT } from "../../../../domain/services/sole_service.ts";
import type { BuiltImage, ImageBuildInput } from "../../../../ports/deployments/image_builder.ts";
import { outputMissing } from "./refuse_empty_site.ts";
import { folderOf, workingFolder } from "../../../services/release_folder.ts";
import { type Run, logLine, store } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"imageBuilder" | "releaseFolders" | "releaseImages">;

const DOCKERFILE_BYTES = 1_048_576;

/** The git history does not belong in an image. */
const HISTORY = [".git"];
/** Installing recreates these; copies from another machine would only get in the way. */
const INSTALLED = ["node_modules", ".venv", "__pycache__"];

/** One image to build for a deployment. */
export interface ImageUnit {
  readonly service: string;
  readonly plan: DeploymentPlan;
  /** An inline Dockerfile; `null` if the plan names a file or one is generated. */
  readonly text: string | null;
  /** Whether the project's non-secret variables that a Dockerfile declares are passed as build arguments. */
  readonly givesVariables: boolean;
  /** Whether the deployment could also run as processes, without an image. */
  readonly fitsProcess: boolean;
}

/** Input of an image build, with the port that the Dockerfile declares, if known. */
export interface ImageBuildPlan extends ImageBuildInput {
  readonly listens?: number | undefined;
}

/**
 * Builds the image of a deployment with one service. A static site is extracted from the image again, because its
 * release is a folder that the edge serves.
 */
export async function buildImage(run: StepRun, found: Detection, signal: AbortSignal): Promise<void> {
  const { plan } = run.deployment;
  const fitsProcess = plan.projectType !== "docker";
  const unit: ImageUnit = { service: SOLE_SERVICE, plan, text: null, givesVariables: true, fitsProcess };
  const buildPlan = await imageBuildPlan(run, unit, found);
  const built = await buildUnit(run, unit, buildPlan, signal);
  if (plan.projectType === "static") {
    await extractSite(run, unit, found, built.image);
    return run.ports.releaseImages.remove(run.deployment.id);
  }
  const listensOn = plan.port ?? declaredPort(unit, buildPlan, found, built) ?? USUAL_PORT;
  logLine(run, "build", `The image is ${built.image.slice(0, 19)}; it listens on port ${listensOn}`);
  await store(run, (deployment) => ({
    ...deployment,
    image: built.image,
    plan: { ...deployment.plan, port: listensOn },
  }));
}

/** Returns the port that the Dockerfile, the image or the detection declares, in this order. */
export function declaredPort(
  unit: ImageUnit,
  { listens }: ImageBuildPlan,
  found: Detection,
  { port }: BuiltImage,
): number | null {
  // The detected port belongs to the detected Dockerfile only.
  return listens ?? port ?? (unit.plan.dockerfile === found.dockerfile ? found.port : null);
}

/** Builds the image of one service of a deployment. */
export async function buildUnit(
  run: StepRun,
  unit: ImageUnit,
  buildPlan: ImageBuildPlan,
  signal: AbortSignal,
): Promise<BuiltImage> {
  const { id, projectId } = run.deployment;
  const { listens: _, ...made } = buildPlan;
  const { fitsProcess, service } = unit;
  try {
    return await run.ports.imageBuilder.build({
      ...made,
      deploymentId: id,
      projectId,
      cacheKey: buildCacheKey(run.deployment),
      service,
      secrets: sharedVariables(run.environment),
      signal,
      log: (line, stream) => run.writer.line(line, { step: "build", service: lineOrigin(unit), stream }),
    });
  } catch (error) {
    if (!fitsProcess || !(error instanceof Failure) || error.code !== "base_image_missing") throw error;
    const otherwise = 'set the runtime of the project to "process", which needs no image';
    throw invalid(error.code, `${error.message}; or ${otherwise}`, { cause: error });
  }
}

/** Returns the input of an image build: the service's own Dockerfile, or a generated one. */
export function imageBuildPlan(run: StepRun, unit: ImageUnit, found: Detection): Promise<ImageBuildPlan> {
  return unit.plan.projectType === "docker" ? ownDockerfile(run, unit) : generated(run, unit, found);
}

/** Extracts a static site from the image that it was built in. */
export async function extractSite(
  run: StepRun,
  { plan }: ImageUnit,
  { image: recipe }: Detection,
  image: string,
): Promise<void> {
  const { releaseFolders, releaseImages } = run.ports;
  const { deployment } = run;
  const { outputDirectory, rootDirectory } = plan;
  const folder = imageFolder({ recipe: recipe!, rootDirectory });
  const path = [folder, outputDirectory].filter((part) => part && part !== ".").join("/");
  const archive = await releaseImages.archive(image, path).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code !== "output_missing") throw error;
    throw outputMissing(`there is no file in the folder ${innerPath(rootDirectory, outputDirectory) || "of the app"}`);
  });
  await releaseFolders.place(deployment.id, innerPath(rootDirectory, outputDirectory), archive);
}

/** Log lines of a single-service project carry no service name. */
function lineOrigin({ service }: ImageUnit): string | null {
  return service === SOLE_SERVICE ? null : service;
}

/** Uses the project's own Dockerfile, with the non-secret variables that it declares as build arguments. */
async function ownDockerfile(run: StepRun, unit: ImageUnit): Promise<ImageBuildPlan> {
  const { deployment } = run;
  const { buildArgs, buildTarget, dockerfile, rootDirectory } = unit.plan;
  const within = await folderOf(run);
  const folder = workingFolder(within, unit.plan);
  const target = buildTarget === null ? {} : { target: buildTarget };
  if (unit.text !== null) {
    return {
      folder,
      within,
      dockerfile: { text: unit.text, without: HISTORY },
      args: new Map(Object.entries(buildArgs)),
      ...target,
    };
  }
  const path = dockerfile ?? "Dockerfile";
  const bytes = await run.ports.releaseFolders.read(deployment.id, innerPath(rootDirectory, path), {
    maxBytes: DOCKERFILE_BYTES,
  });
  if (!bytes) {
    const whose = unit.service === SOLE_SERVICE ? "an image" : unit.service;
    throw invalid(
      "dockerfile_missing",
      `Cannot build ${whose}: there is no file ${path} that can be read. Set dockerfile to its path`,
    );
  }
  const text = new TextDecoder().decode(bytes);
  const open = unit.givesVariables ? openVariables(run, unit, text) : [];
  return {
    folder,
    within,
    dockerfile: { path },
    // The first of several ports counts. With a target, only the builder knows the stage, so the port stays unknown
    // here.
    ...(buildTarget === null ? { listens: dockerfileFacts(text).port } : target),
    args: new Map([...open, ...Object.entries(buildArgs)]),
  };
}

/** The non-secret variables that a Dockerfile declares as arguments. */
function openVariables(run: Run, { plan }: ImageUnit, text: string): readonly (readonly [string, string])[] {
  const declared = dockerfileArguments(text);
  const secret = new Set(run.deployment.secretKeys);
  for (const name of declared) if (secret.has(name) && !Object.hasOwn(plan.buildArgs, name)) tellHidden(run, name);
  const open = [...sharedVariables(run.environment)].filter(([name]) => declared.has(name) && !secret.has(name));
  return open.map(([name, value]) => [name, value.reveal()] as const);
}

function tellHidden(run: Run, name: string): void {
  const instead = `Use RUN --mount=type=secret,id=${name}, or make the variable no secret`;
  logLine(
    run,
    "build",
    `ARG ${name} stays empty: it is a secret, and build arguments can be read from the image. ${instead}`,
    "warn",
  );
}

async function generated(run: StepRun, { plan }: ImageUnit, found: Detection): Promise<ImageBuildPlan> {
  const recipe = recipeFor(plan, found);
  const { deployment } = run;
  if (!recipe)
    throw invalid("no_image", "Cannot put this into an image: the tools that it needs are not known. Add a Dockerfile");
  const folder = await folderOf(run);
  const text = generatedDockerfile({
    recipe,
    commands: { install: plan.installCommand, build: plan.buildCommand, start: startOf(plan) },
    rootDirectory: recipe.wholeRepository ? plan.rootDirectory : null,
    port: plan.port ?? USUAL_PORT,
    cacheScope: run.settings.cacheScope(buildCacheKey(deployment)),
    mounts: (await run.ports.imageBuilder.features()).mounts,
    secretNames: [...sharedVariables(run.environment).keys()],
    environmentDigest: await buildTag(run),
    baseImages: run.settings.baseImages,
  });
  return {
    folder: recipe.wholeRepository ? folder : workingFolder(folder, plan),
    within: folder,
    dockerfile: { text, without: plan.installCommand === null ? HISTORY : [...HISTORY, ...INSTALLED] },
    args: new Map(),
  };
}

/** A recipe knows only what its own commands produce and need; if a person set the commands, everything is kept. */
function recipeFor(plan: DeploymentPlan, { image, buildCommand, startCommand }: Detection): ImageRecipe | null {
  const starts = [startCommand, image?.startCommand ?? null];
  const isOwn = plan.buildCommand === buildCommand && starts.includes(plan.startCommand);
  if (image === null || isOwn) return image;
  return { ...image, keep: [".", ...image.keep.filter((path) => path.startsWith("/"))] };
}

function startOf({ projectType, startCommand }: DeploymentPlan): string | null {
  return projectType === "static" ? null : startCommand;
}

function sharesCaches(one: Deployment, other: Deployment): boolean {
  return buildCacheKey(one) === buildCacheKey(other);
}

/**
 * Returns a random tag that reveals nothing about the variables. It equals that of the former deployment with the same
 * caches exactly if the variables that builds get are equal.
 */
export async function buildTag(run: Run): Promise<string> {
  const { deployments } = run.ports;
  const { buildTag: known, id, projectId } = run.deployment;
  if (known !== null) return known;
  const former = (await deployments.ofProject(projectId)).find(
    (other) => other.id !== id && other.buildTag !== null && sharesCaches(run.deployment, other),
  );
  const values = former && (await deployments.environment(former.id).catch(() => undefined));
  const isSame = values && sameValues(sharedVariables(values), sharedVariables(run.environment));
  const tag = isSame ? former!.buildTag! : crypto.randomUUID();
  await store(run, (deployment: Deployment) => ({ ...deployment, buildTag: tag }));
  return tag;
}
