import { type Detection, isRunnable, NOTHING_DETECTED } from "../detection.ts";
import { dockerfileFacts } from "../text/dockerfile_text.ts";
import { type Finding, type Refinement, warned } from "../ecosystem.ts";
import type { ProjectFolder } from "../project_folder.ts";

const NAMES = ["Dockerfile", "dockerfile", "Containerfile"];
const VARIANT = /^(?:Dockerfile\.([A-Za-z0-9_-]{1,40})|([A-Za-z0-9_-]{1,40})\.Dockerfile)$/;
const FOLDERS = ["docker", ".docker", "deploy", "build"];
/** Variants that are meant for deployment, in this order; others are used only when nothing else can run. */
const MEANT = ["production", "prod", "release", "deploy", "web", "app", "server", "api"];
const NEVER = /^(?:dev|development|test|tests|ci|local|debug|example|sample)$/i;
/** Build arguments that only label an image. */
const LABELS =
  /^(?:BUILD_(?:DATE|ID|NUMBER|TIME|VERSION)|VCS_REF|(?:GIT_)?(?:COMMIT|SHA|REVISION|BRANCH)\w*|(?:APP_)?VERSION|RELEASE)$/;

/** Prefers a Dockerfile over anything else, as it defines how its project is built and started. */
export const docker: Refinement = {
  manifests: [...NAMES, VARIANT],
  refine(folder, found) {
    const runnable = found !== undefined && isRunnable({ ...NOTHING_DETECTED, ...found } as Detection);
    const chosen = dockerfileOf(folder, runnable);
    if (chosen === undefined) return found;
    const { buildable, port, openArguments } = dockerfileFacts(folder.text(chosen.path) ?? "");
    const buildArguments = openArguments.map((key) => ({ key, required: !LABELS.test(key) }));
    const known = new Map([...buildArguments, ...(found?.env ?? [])].map((variable) => [variable.key, variable]));
    const described: Finding = {
      ...found,
      projectType: "docker",
      dockerfile: chosen.path,
      port: port ?? found?.port ?? null,
      env: [...known.values()],
      // The warnings of an ecosystem are about a build that the Dockerfile replaces.
      warnings: found?.broken ? (found.warnings ?? []) : [],
    };
    const missing = `Cannot build ${chosen.path}: it has no FROM line. Add one that names an image to begin with`;
    return warned(described, ...(buildable ? [] : [missing]), ...chosen.warnings);
  },
};

interface Chosen {
  readonly path: string;
  readonly warnings: readonly string[];
}

/**
 * Picks the Dockerfile: one with a default name, else one whose name says that it is meant for deployment, else any if
 * nothing else is runnable.
 */
function dockerfileOf(folder: ProjectFolder, runnable: boolean): Chosen | undefined {
  const usual = folder.first(NAMES);
  if (usual !== undefined) return { path: usual, warnings: [] };
  const variants = folder.names().flatMap((path) => {
    const [, after, before] = VARIANT.exec(path) ?? [];
    const kind = (after ?? before)?.toLowerCase();
    // Any file may have such a name, so only those with a base image count.
    return kind !== undefined && dockerfileFacts(folder.text(path) ?? "").buildable ? [{ path, kind }] : [];
  });
  const meant = MEANT.flatMap((kind) => variants.filter((variant) => variant.kind === kind))[0];
  const chosen = meant ?? (runnable ? undefined : (variants.find(({ kind }) => !NEVER.test(kind)) ?? variants[0]));
  if (chosen === undefined) {
    const inner = runnable
      ? undefined
      : folder.first(FOLDERS.flatMap((name) => NAMES.map((file) => `${name}/${file}`)));
    return inner === undefined ? undefined : { path: inner, warnings: [] };
  }
  const all = variants.map(({ path }) => path).slice(0, 10);
  if (all.length === 1 && !NEVER.test(chosen.kind)) return { path: chosen.path, warnings: [] };
  return {
    path: chosen.path,
    warnings: [
      `Cannot be sure which Dockerfile to build: there is ${all.join(", ")}. ${chosen.path} is used; set dockerfile for another`,
    ],
  };
}
