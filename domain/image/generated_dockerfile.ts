import type { ImageRecipe } from "../detection/image_recipe.ts";
import { invalid } from "../failure.ts";
import { type BaseImages, isImageName, mappedImage } from "./base_images.ts";
import { foregroundCommand, SIGNAL_ALL } from "./foreground_command.ts";
import { copyWords, jsonWords, optionalCopyWords, quotedValue, shellCommand } from "./dockerfile_words.ts";

/** The input of a generated Dockerfile. */
export interface DockerfileRequest {
  readonly recipe: ImageRecipe;
  /** Without a start command there is only the stage `build`; the caller takes the result out of its working folder. */
  readonly commands: { readonly install: string | null; readonly build: string | null; readonly start: string | null };
  /** Where the commands run if the recipe uses the whole repository; otherwise the context already is that folder. */
  readonly rootDirectory: string | null;
  readonly port: number;
  /** Whether the builder supports mounts; without them there are neither caches nor secrets. */
  readonly mounts: boolean;
  /** The scope of the cache mounts, as one word: scopes share no content and never wait for each other. */
  readonly cacheScope: string;
  /** Names of the variables in the build secret `slipway_env`. */
  readonly secretNames: readonly string[];
  /** A cache key: a new value rebuilds even if files and commands are the same. */
  readonly environmentDigest: string;
  readonly baseImages: BaseImages;
}

type Stage = "build" | "run";

/** The folder of the build context in both stages. */
const CONTEXT = "/app";
/** A uid that no base image or machine uses; the name is for programs that look up their user. */
const USER = { name: "slipway", uid: 10_001, home: "/home/slipway" } as const;
const OWNER = `${USER.uid}:${USER.uid}`;
/** Each folder takes a layer, and an image can have at most 127. */
const MAX_MANIFEST_FOLDERS = 30;
/** A line of a Dockerfile can hold twice as much. */
const MAX_MANIFEST_BYTES = 32_768;
/** Copies the given files with their folders; skips those that `.dockerignore` excludes. */
const PICK = 'mkdir /manifests; for path; do [ ! -f "$path" ] || cp --parents -- "$path" /manifests/ || exit 1; done';
const APT_CACHES = ["/var/cache/apt", "/var/lib/apt/lists"];
const COPY_ALL = `COPY ${copyWords(["."], `${CONTEXT}/`)}`;
const SECRETS = "/run/secrets/slipway_env";

/**
 * Returns a Dockerfile that builds a project in one stage and runs it as an unprivileged user in another.
 * Deterministic: the same request gives the same text.
 */
export function generatedDockerfile(request: DockerfileRequest): string {
  const { recipe, commands } = request;
  const own = { caches: recipe.caches, secrets: request.secretNames.length > 0 };
  const install = commands.install === null ? [] : [run(request, commands.install, own)];
  const build = commands.build === null ? [] : [environmentArgument(request), run(request, commands.build, own)];
  const manifests = install.length === 0 ? NO_MANIFESTS : manifestLines(request);
  const first = manifests.copies.length === 0 ? [COPY_ALL, ...install] : [...manifests.copies, ...install, COPY_ALL];
  const stages = [
    manifests.stage,
    [...opening(request, "build"), ...first, ...build],
    commands.start === null ? [] : [...opening(request, "run"), ...closing(request, commands.start)],
  ];
  const texts = stages.filter((lines) => lines.length > 0).map((lines) => `${lines.join("\n")}\n`);
  return `# Made by Slipway from what it found in the project.\n${texts.join("\n")}`;
}

/** Returns the folder in which the commands run in both stages. */
export function workingFolder({ recipe, rootDirectory }: Pick<DockerfileRequest, "recipe" | "rootDirectory">): string {
  const path = recipe.wholeRepository ? (rootDirectory ?? "") : "";
  return [CONTEXT, ...path.split("/").filter((part) => part !== "" && part !== ".")].join("/");
}

/** Returns the first lines of a stage: base image, variables, packages, tools and working folder. */
function opening(request: DockerfileRequest, stage: Stage): string[] {
  const { recipe } = request;
  const setup = recipe.setup.filter(({ stages }) => stages.includes(stage));
  const variables = stage === "run" ? { ...recipe.environment, ...recipe.runEnvironment } : recipe.environment;
  return [
    `FROM ${baseImage(request, stage)} AS ${stage}`,
    "USER 0:0",
    ...Object.entries(variables).map(variable),
    ...packages(request, stage === "build" ? recipe.buildPackages : recipe.runPackages),
    ...setup.map(({ command }) => run(request, command, { caches: recipe.caches })),
    `WORKDIR ${quotedValue(workingFolder(request), "the root directory")}`,
  ];
}

/** Returns the last lines of the final stage: the user, the build output and the start command. */
function closing({ recipe, port }: DockerfileRequest, start: string): string[] {
  const { name, uid, home } = USER;
  const account = [
    `echo "${name}:x:${OWNER}::${home}:/bin/sh" >> /etc/passwd`,
    `echo "${name}:x:${uid}:" >> /etc/group`,
    `mkdir -p ${home}`,
    `chown -R ${OWNER} ${home} ${CONTEXT}`,
  ];
  return [
    `RUN ${shellCommand(account.join(" && "))}`,
    ...recipe.keep.map(placeOf).map((path) => `COPY --from=build --chown=${OWNER} ${copyWords([path], path)}`),
    `ENV HOME="${home}" PORT="${port}" ${SIGNAL_ALL.name}="${SIGNAL_ALL.value}"`,
    `USER ${OWNER}`,
    `EXPOSE ${port}`,
    "STOPSIGNAL SIGTERM",
    // An entrypoint of the base image would receive the command as its arguments.
    "ENTRYPOINT []",
    `CMD ${shellCommand(foregroundCommand(start))}`,
  ];
}

function placeOf(kept: string): string {
  if (kept.startsWith("/")) return kept;
  return kept === "." ? `${CONTEXT}/` : `${CONTEXT}/${kept}`;
}

function baseImage({ recipe, baseImages }: DockerfileRequest, stage: Stage): string {
  const image = mappedImage(baseImages, stage === "build" ? recipe.buildImage : recipe.runImage);
  if (isImageName(image)) return image;
  const reason = `${JSON.stringify(image.slice(0, 100))} cannot be the name of an image`;
  throw invalid(
    "dockerfile_impossible",
    `Cannot generate a Dockerfile: ${reason}. Correct the version that the project asks for, or add your own Dockerfile`,
  );
}

function variable([name, value]: readonly [string, string]): string {
  return `ENV ${name}=${quotedValue(value, `the value of ${name}`)}`;
}

function packages(request: DockerfileRequest, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  // Debian's images delete downloaded packages immediately, but the cache should keep them.
  const before = request.mounts ? "rm -f /etc/apt/apt.conf.d/docker-clean && " : "";
  const after = request.mounts ? "" : " && rm -rf /var/lib/apt/lists/*";
  const install = "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends";
  const command = `${before}apt-get update && ${install} ${names.join(" ")}${after}`;
  return [run(request, command, { caches: APT_CACHES })];
}

const NO_MANIFESTS: ManifestLines = { stage: [], copies: [] };

interface ManifestLines {
  /** The stage that the manifests are copied from, if they need one. */
  readonly stage: readonly string[];
  readonly copies: readonly string[];
}

/** Copies the manifests to their places; if that would take too many layers, an extra stage collects them first. */
function manifestLines(request: DockerfileRequest): ManifestLines {
  const { manifests } = request.recipe;
  if (manifests.length === 0 || jsonWords(manifests).length > MAX_MANIFEST_BYTES) return NO_MANIFESTS;
  const folders = Map.groupBy(manifests, (path) => path.slice(0, path.lastIndexOf("/") + 1));
  // A builder without mounts also refuses patterns that match nothing.
  if (request.mounts && folders.size <= MAX_MANIFEST_FOLDERS) {
    const copies = [...folders].map(([folder, paths]) => `COPY ${optionalCopyWords(paths, `${CONTEXT}/${folder}`)}`);
    return { stage: [], copies };
  }
  const stage = [
    `FROM ${baseImage(request, "build")} AS manifests`,
    "USER 0:0",
    `WORKDIR ${CONTEXT}`,
    COPY_ALL,
    `RUN ${jsonWords(["/bin/sh", "-c", PICK, "sh", ...manifests])}`,
  ];
  return { stage, copies: [`COPY --from=manifests ${copyWords(["/manifests/"], `${CONTEXT}/`)}`] };
}

/** Returns the `ARG` that goes before the commands to rerun when its value changes. */
function environmentArgument({ environmentDigest }: DockerfileRequest): string {
  return `ARG SLIPWAY_ENVIRONMENT=${quotedValue(environmentDigest, "the digest of the environment")}`;
}

/** Formats a `RUN` with cache mounts and, if requested, the secrets; neither ends up in a layer. */
function run(
  { mounts, cacheScope }: DockerfileRequest,
  command: string,
  { caches, secrets = false }: { readonly caches: readonly string[]; readonly secrets?: boolean },
): string {
  if (!mounts) return `RUN ${shellCommand(command)}`;
  const options = caches.map((path) => `--mount=type=cache,id=${cacheScope}${path},target=${path},sharing=locked`);
  if (!secrets) return ["RUN", ...options, shellCommand(command)].join(" ");
  const withSecrets = `set -a; . ${SECRETS}; set +a; ${command}`;
  return ["RUN", ...options, "--mount=type=secret,id=slipway_env", shellCommand(withSecrets)].join(" ");
}
