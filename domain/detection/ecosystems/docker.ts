import { type Detection, isRunnable, NOTHING_DETECTED } from "../detection.ts";
import { dockerfileFacts } from "../text/dockerfile_text.ts";
import { type Finding, type Refinement, warned } from "../ecosystem.ts";
import type { ProjectFolder } from "../project_folder.ts";

const NAMES = ["Dockerfile", "dockerfile", "Containerfile"];
const VARIANT = /^(?:Dockerfile\.([A-Za-z0-9_-]{1,40})|([A-Za-z0-9_-]{1,40})\.Dockerfile)$/;
const FOLDERS = ["docker", ".docker", "deploy", "build"];
/** Variants that are meant for deployment, in this order; others are used only where nothing else can be. */
const MEANT = ["production", "prod", "release", "deploy", "web", "app", "server", "api"];
const NEVER = /^(?:dev|development|test|tests|ci|local|debug|example|sample)$/i;
/** Arguments that only label an image. */
const LABELS =
  /^(?:BUILD_(?:DATE|ID|NUMBER|TIME|VERSION)|VCS_REF|(?:GIT_)?(?:COMMIT|SHA|REVISION|BRANCH)\w*|(?:APP_)?VERSION|RELEASE)$/;

/** A Dockerfile says better than anything else how its project is built and started. */
export const docker: Refinement = {
  manifests: [...NAMES, VARIANT],
  refine(folder, found) {
    const runnable = found !== undefined && isRunnable({ ...NOTHING_DETECTED, ...found } as Detection);
    const chosen = dockerfileOf(folder, runnable);
    if (chosen === undefined) return found;
    const { buildable, port, openArguments } = dockerfileFacts(folder.text(chosen.path) ?? "");
    const asked = openArguments.map((key) => ({ key, required: !LABELS.test(key) }));
    const known = new Map([...asked, ...(found?.env ?? [])].map((variable) => [variable.key, variable]));
    const described: Finding = {
      ...found,
      projectType: "docker",
      dockerfile: chosen.path,
      port: port ?? found?.port ?? null,
      env: [...known.values()],
      // What an ecosystem warns of is about a build that the Dockerfile replaces.
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

/** The Dockerfile to use: the one of the usual name, else one whose name says that it is meant for deployment, else any where nothing else runs. */
function dockerfileOf(folder: ProjectFolder, runnable: boolean): Chosen | undefined {
  const usual = folder.first(NAMES);
  if (usual !== undefined) return { path: usual, warnings: [] };
  const variants = folder.names().flatMap((path) => {
    const [, after, before] = VARIANT.exec(path) ?? [];
    const kind = (after ?? before)?.toLowerCase();
    // Anything may have such a name: only what can be built counts.
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
