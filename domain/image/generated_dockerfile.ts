import type { ImageRecipe } from "../detection/image_recipe.ts";
import { invalid } from "../failure.ts";
import { type BaseImages, isImageName, mappedImage } from "./base_images.ts";
import { foregroundCommand, SIGNAL_ALL } from "./foreground_command.ts";
import { copyWords, jsonWords, optionalCopyWords, quotedValue, shellWords } from "./dockerfile_words.ts";

/** What a Dockerfile is made from. */
export interface DockerfileRequest {
  readonly recipe: ImageRecipe;
  /** Without a start command there is only the stage `build`, for the caller to take the result out of its working folder. */
  readonly commands: { readonly install: string | null; readonly build: string | null; readonly start: string | null };
  /** Where the commands run, when the recipe takes the whole repository; else the context is that folder already. */
  readonly rootDirectory: string | null;
  readonly port: number;
  /** Whether the builder knows mounts; without them there are neither caches nor secrets. */
  readonly mounts: boolean;
  /** Whose caches are used, as a word: what one leaves there no other one gets, nor waits for. */
  readonly cacheScope: string;
  /** Names of the variables in the build secret `slipway_env`. */
  readonly secretNames: readonly string[];
  /** A new one builds anew, though files and commands are the same. */
  readonly environmentDigest: string;
  readonly baseImages: BaseImages;
}

type Stage = "build" | "run";

/** Where the context lies in both stages. */
const CONTEXT = "/app";
/** No user of any base image or machine; the name is for programs that ask for theirs. */
const USER = { name: "slipway", uid: 10_001, home: "/home/slipway" } as const;
const OWNER = `${USER.uid}:${USER.uid}`;
/** Each has a layer, of which an image can have 127. */
const MAX_MANIFEST_FOLDERS = 30;
/** What a line of a Dockerfile can hold is twice as much. */
const MAX_MANIFEST_BYTES = 32_768;
/** Copies the files that it is given, with their folders; what `.dockerignore` names is missing. */
const PICK = 'mkdir /manifests; for path; do [ ! -f "$path" ] || cp --parents -- "$path" /manifests/ || exit 1; done';
const APT_CACHES = ["/var/cache/apt", "/var/lib/apt/lists"];
const COPY_ALL = `COPY ${copyWords(["."], `${CONTEXT}/`)}`;
const SECRETS = "/run/secrets/slipway_env";

/** A Dockerfile that builds a project in one stage and runs it as an unprivileged user in another; the same text for the same request. */
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

/** The folder of both stages in which the commands run. */
export function workingFolder({ recipe, rootDirectory }: Pick<DockerfileRequest, "recipe" | "rootDirectory">): string {
  const path = recipe.wholeRepository ? (rootDirectory ?? "") : "";
  return [CONTEXT, ...path.split("/").filter((part) => part !== "" && part !== ".")].join("/");
}

/** How both stages begin: an image with packages, variables and tools, and a working folder. */
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

/** How the final stage ends: a user, what was built, and how it is started. */
function closing({ recipe, port }: DockerfileRequest, start: string): string[] {
  const { name, uid, home } = USER;
  const account = [
    `echo "${name}:x:${OWNER}::${home}:/bin/sh" >> /etc/passwd`,
    `echo "${name}:x:${uid}:" >> /etc/group`,
    `mkdir -p ${home}`,
    `chown -R ${OWNER} ${home} ${CONTEXT}`,
  ];
  return [
    `RUN ${shellWords(account.join(" && "))}`,
    ...recipe.keep.map(placeOf).map((path) => `COPY --from=build --chown=${OWNER} ${copyWords([path], path)}`),
    `ENV HOME="${home}" PORT="${port}" ${SIGNAL_ALL.name}="${SIGNAL_ALL.value}"`,
    `USER ${OWNER}`,
    `EXPOSE ${port}`,
    "STOPSIGNAL SIGTERM",
    // One of the base image would get the command as its arguments.
    "ENTRYPOINT []",
    `CMD ${shellWords(foregroundCommand(start))}`,
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
    `Cannot make a Dockerfile: ${reason}. Correct the version that the project asks for, or bring your own Dockerfile`,
  );
}

function variable([name, value]: readonly [string, string]): string {
  return `ENV ${name}=${quotedValue(value, `the value of ${name}`)}`;
}

function packages(request: DockerfileRequest, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  // Debian's images throw away at once what is to stay in the cache.
  const before = request.mounts ? "rm -f /etc/apt/apt.conf.d/docker-clean && " : "";
  const after = request.mounts ? "" : " && rm -rf /var/lib/apt/lists/*";
  const install = "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends";
  const command = `${before}apt-get update && ${install} ${names.join(" ")}${after}`;
  return [run(request, command, { caches: APT_CACHES })];
}

const NO_MANIFESTS: ManifestLines = { stage: [], copies: [] };

interface ManifestLines {
  /** A stage that they come from, if they need one. */
  readonly stage: readonly string[];
  readonly copies: readonly string[];
}

/** Puts the manifests at their places; where that would take too many layers, they are picked in a stage of their own first. */
function manifestLines(request: DockerfileRequest): ManifestLines {
  const { manifests } = request.recipe;
  if (manifests.length === 0 || jsonWords(manifests).length > MAX_MANIFEST_BYTES) return NO_MANIFESTS;
  const folders = Map.groupBy(manifests, (path) => path.slice(0, path.lastIndexOf("/") + 1));
  // A builder without mounts does not take patterns that match nothing either.
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

/** Before the commands that it is to repeat. */
function environmentArgument({ environmentDigest }: DockerfileRequest): string {
  return `ARG SLIPWAY_ENVIRONMENT=${quotedValue(environmentDigest, "the digest of the environment")}`;
}

/** A command with the caches and, on request, the secrets that it may see; no layer keeps either. */
function run(
  { mounts, cacheScope }: DockerfileRequest,
  command: string,
  { caches, secrets = false }: { readonly caches: readonly string[]; readonly secrets?: boolean },
): string {
  if (!mounts) return `RUN ${shellWords(command)}`;
  const options = caches.map((path) => `--mount=type=cache,id=${cacheScope}${path},target=${path},sharing=locked`);
  if (!secrets) return ["RUN", ...options, shellWords(command)].join(" ");
  const told = `set -a; . ${SECRETS}; set +a; ${command}`;
  return ["RUN", ...options, "--mount=type=secret,id=slipway_env", shellWords(told)].join(" ");
}
