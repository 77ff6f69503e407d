import type { Deployment, DeploymentPlan } from "../../../domain/deployment/deployment.ts";
import type { Detection } from "../../../domain/detection/detection.ts";
import { dockerfileFacts } from "../../../domain/detection/dockerfile_text.ts";
import type { ImageRecipe } from "../../../domain/detection/image_recipe.ts";
import { invalid } from "../../../domain/failure.ts";
import { dockerfileArguments } from "../../../domain/image/dockerfile_arguments.ts";
import { generatedDockerfile, workingFolder as imageFolder } from "../../../domain/image/generated_dockerfile.ts";
import type { Secret } from "../../../domain/secret.ts";
import type { ImageRequest } from "../../../ports/image_builder.ts";
import { folderOf, workingFolder } from "./release_folder.ts";
import { type Run, say, store } from "./run.ts";
import { staticFolder } from "./serve.ts";

/** What a program listens on when nothing tells. */
const PORT = 8080;
const DOCKERFILE_BYTES = 1_048_576;

/** Nobody's business in an image. */
const HISTORY = [".git"];
/** What installing makes anew; as it was on another machine it would only be in the way. */
const INSTALLED = ["node_modules", ".venv", "__pycache__"];

type Made = Pick<ImageRequest, "folder" | "dockerfile" | "target" | "args"> & {
  /** What is said about where it listens. */
  readonly listens?: number | undefined;
};

/** Puts a deployment into an image; a static site is taken out of it again, as its release is a folder that the edge serves. */
export async function buildImage(run: Run, found: Detection, signal: AbortSignal): Promise<void> {
  const { imageBuilder } = run.ports;
  const { id, plan, projectId } = run.deployment;
  const { listens, ...made } = plan.projectType === "docker" ? await ownDockerfile(run) : await generated(run, found);
  const { image, port } = await imageBuilder.build({
    ...made,
    deploymentId: id,
    projectId,
    secrets: run.environment,
    signal,
    log: (line, stream) => run.writer.line(line, { step: "build", stream }),
  });
  if (plan.projectType === "static") return takeOut(run, found, image);
  // What was found is about the Dockerfile that was found.
  const supposed = plan.dockerfile === found.dockerfile ? found.port : null;
  const listensOn = plan.port ?? listens ?? port ?? supposed ?? PORT;
  say(run, "build", `The image is ${image.slice(0, 19)}; it listens on port ${listensOn}`);
  await store(run, (deployment) => ({ ...deployment, image, plan: { ...deployment.plan, port: listensOn } }));
}

/** The project's own Dockerfile, with those variables as arguments that it declares and that are no secrets. */
async function ownDockerfile(run: Run): Promise<Made> {
  const { deployment, environment } = run;
  const { buildArgs, buildTarget, dockerfile, rootDirectory } = deployment.plan;
  const path = dockerfile ?? "Dockerfile";
  const bytes = await run.ports.releaseFolders.read(deployment.id, rootDirectory ? `${rootDirectory}/${path}` : path, {
    maxBytes: DOCKERFILE_BYTES,
  });
  if (!bytes) {
    throw invalid(
      "dockerfile_missing",
      `Cannot build an image: there is no file ${path} that can be read. Set dockerfile to its path`,
    );
  }
  const text = new TextDecoder().decode(bytes);
  const declared = dockerfileArguments(text);
  const secret = new Set(deployment.secretKeys);
  const open = [...environment].filter(([name]) => declared.has(name) && !secret.has(name));
  for (const name of declared) if (secret.has(name) && !Object.hasOwn(buildArgs, name)) tellHidden(run, name);
  return {
    folder: workingFolder(await folderOf(run), deployment),
    dockerfile: { path },
    // Of several ports the one that is named first counts; which stage a target is, only the builder knows.
    ...(buildTarget === null ? { listens: dockerfileFacts(text).port } : { target: buildTarget }),
    args: new Map([...open.map(([name, value]) => [name, value.reveal()] as const), ...Object.entries(buildArgs)]),
  };
}

function tellHidden(run: Run, name: string): void {
  const instead = `Use RUN --mount=type=secret,id=${name}, or make the variable no secret`;
  say(run, "build", `ARG ${name} stays empty: it is a secret, and an image shows its arguments. ${instead}`, "warn");
}

async function generated(run: Run, found: Detection): Promise<Made> {
  const recipe = recipeFor(run.deployment.plan, found);
  const { deployment, environment } = run;
  if (!recipe)
    throw invalid("no_image", "Cannot put this into an image: nothing tells which tools it needs. Add a Dockerfile");
  const { plan } = deployment;
  const folder = await folderOf(run);
  const text = generatedDockerfile({
    recipe,
    commands: { install: plan.installCommand, build: plan.buildCommand, start: startOf(plan) },
    rootDirectory: recipe.wholeRepository ? plan.rootDirectory : null,
    port: plan.port ?? PORT,
    cacheScope: run.settings.cacheScope(deployment.projectId),
    mounts: (await run.ports.imageBuilder.features()).mounts,
    secretNames: [...environment.keys()],
    environmentDigest: await buildTag(run),
    baseImages: run.settings.baseImages,
  });
  return {
    folder: recipe.wholeRepository ? folder : workingFolder(folder, deployment),
    dockerfile: { text, without: plan.installCommand === null ? HISTORY : [...HISTORY, ...INSTALLED] },
    args: new Map(),
  };
}

/** A recipe knows what its own commands leave behind; what a person's leave, and need, may be anything. */
function recipeFor(plan: DeploymentPlan, { image, buildCommand, startCommand }: Detection): ImageRecipe | null {
  const isOwn = plan.buildCommand === buildCommand && plan.startCommand === startCommand;
  if (image === null || isOwn) return image;
  return { ...image, keep: [".", ...image.keep.filter((path) => path.startsWith("/"))] };
}

function startOf({ projectType, startCommand }: DeploymentPlan): string | null {
  return projectType === "static" ? null : startCommand;
}

/** Says the same as for the deployment before exactly when the variables are the same, and nothing about them. */
async function buildTag(run: Run): Promise<string> {
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

async function takeOut(run: Run, { image: recipe }: Detection, image: string): Promise<void> {
  const { releaseFolders, releaseImages } = run.ports;
  const { deployment } = run;
  const { outputDirectory, rootDirectory } = deployment.plan;
  const folder = imageFolder({ recipe: recipe!, rootDirectory });
  const path = [folder, outputDirectory].filter((part) => part && part !== ".").join("/");
  const archive = await releaseImages.archive(image, path);
  await releaseFolders.place(deployment.id, staticFolder("", deployment), archive);
  await releaseImages.remove(deployment.id);
}
