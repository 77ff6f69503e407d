import type { Deployment, DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import type { Detection } from "../../../../domain/detection/detection.ts";
import { dockerfileFacts } from "../../../../domain/detection/text/dockerfile_text.ts";
import type { ImageRecipe } from "../../../../domain/detection/image_recipe.ts";
import { Failure, invalid } from "../../../../domain/failure.ts";
import { dockerfileArguments } from "../../../../domain/image/dockerfile_arguments.ts";
import { generatedDockerfile, workingFolder as imageFolder } from "../../../../domain/image/generated_dockerfile.ts";
import type { Secret } from "../../../../domain/secret.ts";
import { innerPath, SOLE_SERVICE, USUAL_PORT } from "../../../../domain/services/sole_service.ts";
import type { BuiltImage, ImageBuildInput } from "../../../../ports/deployments/image_builder.ts";
import { outputMissing } from "./refuse_empty_site.ts";
import { folderOf, workingFolder } from "./release_folder.ts";
import { type Run, say, store } from "../run.ts";

const DOCKERFILE_BYTES = 1_048_576;

/** Nobody's business in an image. */
const HISTORY = [".git"];
/** What installing makes anew; as it was on another machine it would only be in the way. */
const INSTALLED = ["node_modules", ".venv", "__pycache__"];

/** What of a deployment goes into one image. */
export interface ImageUnit {
  readonly service: string;
  readonly plan: DeploymentPlan;
  /** A Dockerfile that is written out; `null` when the plan names one or none is needed. */
  readonly text: string | null;
  /** Whether variables of the project that a Dockerfile asks for are given to it. */
  readonly givesVariables: boolean;
  /** Whether the deployment could run without any image. */
  readonly fitsProcess: boolean;
}

/** What an image is made from, and what is said about where it listens. */
export interface ImageBuildPlan extends ImageBuildInput {
  readonly listens?: number | undefined;
}

/** Puts a deployment of one service into an image; a static site is taken out of it again, as its release is a folder that the edge serves. */
export async function buildImage(run: Run, found: Detection, signal: AbortSignal): Promise<void> {
  const { plan } = run.deployment;
  const fitsProcess = plan.projectType !== "docker";
  const unit: ImageUnit = { service: SOLE_SERVICE, plan, text: null, givesVariables: true, fitsProcess };
  const buildPlan = await imageBuildPlan(run, unit, found);
  const built = await buildUnit(run, unit, buildPlan, signal);
  if (plan.projectType === "static") {
    await takeOut(run, unit, found, built.image);
    return run.ports.releaseImages.remove(run.deployment.id);
  }
  const listensOn = plan.port ?? supposedPort(unit, buildPlan, found, built) ?? USUAL_PORT;
  say(run, "build", `The image is ${built.image.slice(0, 19)}; it listens on port ${listensOn}`);
  await store(run, (deployment) => ({
    ...deployment,
    image: built.image,
    plan: { ...deployment.plan, port: listensOn },
  }));
}

/** The port that an image is said to listen on by itself or by what it is made from. */
export function supposedPort(
  unit: ImageUnit,
  { listens }: ImageBuildPlan,
  found: Detection,
  { port }: BuiltImage,
): number | null {
  // What was found is about the Dockerfile that was found.
  return listens ?? port ?? (unit.plan.dockerfile === found.dockerfile ? found.port : null);
}

/** Builds the image of a part of a deployment. */
export async function buildUnit(
  run: Run,
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
      service,
      secrets: run.environment,
      signal,
      log: (line, stream) => run.writer.line(line, { step: "build", service: lineOrigin(unit), stream }),
    });
  } catch (error) {
    if (!fitsProcess || !(error instanceof Failure) || error.code !== "base_image_missing") throw error;
    const otherwise = 'set the runtime of the project to "process", which needs no image';
    throw invalid(error.code, `${error.message}; or ${otherwise}`, { cause: error });
  }
}

/** What a part of a deployment is made from: its own Dockerfile, or one that is written for it. */
export function imageBuildPlan(run: Run, unit: ImageUnit, found: Detection): Promise<ImageBuildPlan> {
  return unit.plan.projectType === "docker" ? ownDockerfile(run, unit) : generated(run, unit, found);
}

/** Takes a site out of the image it was built in. */
export async function takeOut(
  run: Run,
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

/** The lines of a project of one service are nobody's in particular. */
function lineOrigin({ service }: ImageUnit): string | null {
  return service === SOLE_SERVICE ? null : service;
}

/** The project's own Dockerfile, with those variables as arguments that it declares and that are no secrets. */
async function ownDockerfile(run: Run, unit: ImageUnit): Promise<ImageBuildPlan> {
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
    // Of several ports the one that is named first counts; which stage a target is, only the builder knows.
    ...(buildTarget === null ? { listens: dockerfileFacts(text).port } : target),
    args: new Map([...open, ...Object.entries(buildArgs)]),
  };
}

/** The variables that a Dockerfile asks for and that everybody may see. */
function openVariables(run: Run, { plan }: ImageUnit, text: string): readonly (readonly [string, string])[] {
  const declared = dockerfileArguments(text);
  const secret = new Set(run.deployment.secretKeys);
  for (const name of declared) if (secret.has(name) && !Object.hasOwn(plan.buildArgs, name)) tellHidden(run, name);
  const open = [...run.environment].filter(([name]) => declared.has(name) && !secret.has(name));
  return open.map(([name, value]) => [name, value.reveal()] as const);
}

function tellHidden(run: Run, name: string): void {
  const instead = `Use RUN --mount=type=secret,id=${name}, or make the variable no secret`;
  say(run, "build", `ARG ${name} stays empty: it is a secret, and an image shows its arguments. ${instead}`, "warn");
}

async function generated(run: Run, { plan }: ImageUnit, found: Detection): Promise<ImageBuildPlan> {
  const recipe = recipeFor(plan, found);
  const { deployment, environment } = run;
  if (!recipe)
    throw invalid("no_image", "Cannot put this into an image: nothing tells which tools it needs. Add a Dockerfile");
  const folder = await folderOf(run);
  const text = generatedDockerfile({
    recipe,
    commands: { install: plan.installCommand, build: plan.buildCommand, start: startOf(plan) },
    rootDirectory: recipe.wholeRepository ? plan.rootDirectory : null,
    port: plan.port ?? USUAL_PORT,
    cacheScope: run.settings.cacheScope(deployment.projectId),
    mounts: (await run.ports.imageBuilder.features()).mounts,
    secretNames: [...environment.keys()],
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

/** A recipe knows what its own commands leave behind; what a person's leave, and need, may be anything. */
function recipeFor(plan: DeploymentPlan, { image, buildCommand, startCommand }: Detection): ImageRecipe | null {
  const starts = [startCommand, image?.startCommand ?? null];
  const isOwn = plan.buildCommand === buildCommand && starts.includes(plan.startCommand);
  if (image === null || isOwn) return image;
  return { ...image, keep: [".", ...image.keep.filter((path) => path.startsWith("/"))] };
}

function startOf({ projectType, startCommand }: DeploymentPlan): string | null {
  return projectType === "static" ? null : startCommand;
}

/** Says the same as for the deployment before exactly when the variables are the same, and nothing about them. */
export async function buildTag(run: Run): Promise<string> {
  const { deployments } = run.ports;
  const { buildTag: known, id, projectId } = run.deployment;
  if (known !== null) return known;
  const former = (await deployments.ofProject(projectId)).find((other) => other.id !== id && other.buildTag !== null);
  const values = former && (await deployments.environment(former.id).catch(() => undefined));
  const tag = values && isSame(values, run.environment) ? former!.buildTag! : crypto.randomUUID();
  await store(run, (deployment: Deployment) => ({ ...deployment, buildTag: tag }));
  return tag;
}

function isSame(a: ReadonlyMap<string, Secret>, b: ReadonlyMap<string, Secret>): boolean {
  return a.size === b.size && [...a].every(([name, value]) => b.get(name)?.reveal() === value.reveal());
}
