import { type Detection, isRunnable, NOTHING_DETECTED } from "./detection.ts";
import { type Finding, warned } from "./ecosystem.ts";
import { ECOSYSTEMS, REFINEMENTS } from "./ecosystems.ts";
import { GROUPS, isIgnoredFolder } from "./manifests.ts";
import { placed } from "./obstacle.ts";
import { ProjectFolder } from "./project_folder.ts";
import type { ProjectTree } from "./project_tree.ts";

export type { Detection } from "./detection.ts";
export type { ProjectTree } from "./project_tree.ts";

const PLAIN_NAME = /^[A-Za-z0-9_@][A-Za-z0-9_@.-]*$/;
const MAX_PLACES = 50;
/** Languages whose scripts often accompany a program in another language. */
const SCRIPTS = new Set(["javascript", "typescript", "python"]);
const UNKNOWN =
  "Cannot tell what this project is: it has none of the files that show it, such as Dockerfile, compose.yaml, package.json, requirements.txt, pyproject.toml, go.mod, Cargo.toml, Gemfile, composer.json, pom.xml or index.html. Add one, set rootDirectory to the folder that has one, or set startCommand on the project";

/**
 * Detects what a project is and how to build it, from its files alone: deterministic, and never throws. The project
 * lies in the folder `root`, which the result's paths are relative to; the files around it show the workspace that it
 * belongs to.
 */
export function detect(tree: ProjectTree, root = ""): Detection {
  const whole = new ProjectFolder(tree, root);
  const finding = inspect(whole);
  const found = finding && detectionOf(finding);
  // A shell script says less than the projects in the folders below it.
  const certain = found?.projectType !== "app" || found.language !== "shell";
  if (found !== undefined && certain && (finding?.broken || isRunnable(found))) return found;
  const seen = placesIn(whole).map((folder) => {
    const { broken = false, ...part } = inspect(folder) ?? {};
    return { broken, part: { ...detectionOf(part), rootDirectory: below(root, folder.path) } };
  });
  const parts = seen.flatMap(({ part }) => (isRunnable(part) ? [part] : []));
  const left = seen.flatMap(({ broken, part: { rootDirectory, warnings } }) =>
    broken ? warnings.map((warning) => placed(warning, rootDirectory)) : [],
  );
  if (parts.length === 1) return withWarnings(left, parts[0]!);
  if (parts.length > 1) return withWarnings(left, together(parts));
  if (found === undefined && left.length === 0) return { ...NOTHING_DETECTED, warnings: [UNKNOWN] };
  return withWarnings(left, found ?? NOTHING_DETECTED);
}

function withWarnings(warnings: readonly string[], found: Detection): Detection {
  return warnings.length === 0 ? found : { ...found, warnings: [...warnings, ...found.warnings] };
}

function below(root: string, path: string): string {
  return root === "" ? path : path.slice(root.length + 1);
}

function inspect(folder: ProjectFolder): Finding | undefined {
  const findings = ECOSYSTEMS.flatMap((ecosystem) => ecosystem.detect(folder) ?? []);
  // A package.json that only holds tools does not hide a program in another language beside it.
  const telling = findings.filter((finding) => finding.broken || isRunnable(detectionOf(finding)));
  let found = telling.toSorted((a, b) => rank(a) - rank(b))[0] ?? findings[0];
  if (found !== undefined) found = warned(found, ...leftOut(found, findings));
  for (const refinement of REFINEMENTS) found = refinement.refine(folder, found);
  return found;
}

/** Warns about web pages beside a server in another language that no command builds. */
function leftOut(found: Finding, findings: readonly Finding[]): string[] {
  const pages = isScript(found) ? undefined : findings.find((other) => isScript(other) && other.buildCommand);
  const built = /\b(?:npm|npx|pnpm|yarn|bun)\b/.test(`${found.installCommand ?? ""} ${found.buildCommand ?? ""}`);
  if (pages === undefined || built) return [];
  const commands = [pages.installCommand, pages.buildCommand].filter(Boolean).join(" && ");
  return [
    `Cannot tell whether the build script of package.json is needed: it is not run. Add "${commands}" to the build command if it is`,
  ];
}

function isScript({ language }: Finding): boolean {
  return language === "javascript" || language === "typescript";
}

/** Prefers a server over the tools that build its pages: the lowest rank wins, and ties keep the order of the list. */
function rank({ broken, framework, language, projectType }: Finding): number {
  if (language === "shell") return 4;
  if (projectType === "static") return framework ? 2 : 3;
  if (framework && !broken) return 0;
  return SCRIPTS.has(language ?? "") && !broken ? 2 : 1;
}

function detectionOf({ broken: _broken, programs: _programs, ...found }: Finding): Detection {
  return { ...NOTHING_DETECTED, ...found };
}

/** The folders that may contain a project when the root is none. */
function placesIn(whole: ProjectFolder): ProjectFolder[] {
  const here = whole.folders().filter(isUsable);
  const found = here.flatMap((name) =>
    GROUPS.has(name)
      ? whole
          .at(name)
          .folders()
          .map((inner) => `${name}/${inner}`)
      : [name],
  );
  const declared = ["", ...here].flatMap((path) => membersIn(whole, path));
  const paths = [...new Set([...found, ...declared])].filter(isUsable).toSorted();
  return paths.slice(0, MAX_PLACES).map((path) => whole.at(path));
}

/** The workspace members that the manifests in a folder declare. */
function membersIn(whole: ProjectFolder, path: string): string[] {
  const members = ECOSYSTEMS.flatMap(({ members: of }) => of?.(path === "" ? whole : whole.at(path)) ?? []);
  return members.map((member) => (path === "" ? member : `${path}/${member}`));
}

function isUsable(path: string): boolean {
  const names = path.split("/");
  return names.every((name) => PLAIN_NAME.test(name)) && !isIgnoredFolder(names);
}

/** Combines several projects into one detection, with the values that all of them share. */
function together(parts: readonly (Detection & { readonly rootDirectory: string })[]): Detection {
  const shared = (key: "language" | "framework" | "packageManager") =>
    parts.every((part) => part[key] === parts[0]![key]) ? parts[0]![key] : null;
  return {
    ...NOTHING_DETECTED,
    language: shared("language"),
    framework: shared("framework"),
    packageManager: shared("packageManager"),
    projectType: "services",
    services: parts.map(({ rootDirectory }) => ({ name: serviceName(rootDirectory, parts), rootDirectory })),
    env: [...new Map(parts.flatMap(({ env }) => env).map((variable) => [variable.key, variable])).values()],
    warnings: parts.flatMap(({ rootDirectory, warnings }) => warnings.map((warning) => `${rootDirectory}: ${warning}`)),
  };
}

/** The last segment of a folder's path, or all segments when another project has the same last one. */
function serviceName(path: string, parts: readonly { readonly rootDirectory: string }[]): string {
  const alike = parts.filter(({ rootDirectory }) => lastPart(rootDirectory) === lastPart(path));
  return alike.length > 1 ? path.replaceAll("/", "-") : lastPart(path);
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
