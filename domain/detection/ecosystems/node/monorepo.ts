import { memberOf, objectOf, textOf } from "../../text/json_text.ts";
import { dependsOn, isMember, type NodePackage, scriptText } from "./package.ts";
import { localDependencies, pathToRoot } from "./workspace.ts";
import { plainPackage } from "../../plain_names.ts";

const MAX_BUILT = 30;

/**
 * Returns the command that builds a package after the workspace packages that it needs; just `build` if it needs none.
 */
export function buildInWorkspace(
  project: NodePackage,
  build: string | undefined,
  variable?: string,
): string | undefined {
  const set = variable === undefined ? "" : `${variable} `;
  const own = build === undefined ? undefined : `${set}${build}`;
  if (!isMember(project)) return own;
  const byTool = scriptText(project.manifest, "build") === undefined ? undefined : toolsBuild(project);
  if (byTool !== undefined) return `cd ${pathToRoot(project.workspace!, project.folder)} && ${set}${byTool(variable)}`;
  return withDependencies(project, own);
}

type ToolsBuild = (variable: string | undefined) => string;

/** The build command of the workspace's own tool, which knows the order. */
function toolsBuild({ folder, manifest, manager, workspace }: NodePackage): ToolsBuild | undefined {
  const { root, manifest: above } = workspace!;
  const uses = (tool: string) => root.has(`${tool}.json`) && dependsOn(above, tool);
  const name = plainPackage(textOf(manifest, "name"));
  if (uses("turbo") && name !== undefined) {
    // By default, turbo hides variables that turbo.json does not name from the build.
    return (variable) => `${manager.exec} turbo run build --filter=${name}${variable ? " --env-mode=loose" : ""}`;
  }
  const inNx = textOf(objectOf(folder.data("project.json")), "name") ?? textOf(memberOf(manifest, "nx"), "name");
  const project = inNx === undefined ? name : plainPackage(inNx);
  if (uses("nx") && project !== undefined) return () => `${manager.exec} nx run ${project}:build`;
  if (uses("lerna") && name !== undefined)
    return () => `${manager.exec} lerna run build --scope=${name} --include-dependencies`;
  return undefined;
}

function withDependencies(project: NodePackage, own: string | undefined): string | undefined {
  const { folder, manifest, manager, workspace } = project;
  const needed = localDependencies(workspace!, manifest).filter(
    ({ path, manifest: theirs }) => scriptText(theirs, "build") !== undefined && !isSame(project, path),
  );
  if (needed.length === 0) return own;
  if (manager.name === "pnpm" && own === "pnpm run build") return 'pnpm --filter "{.}..." run build';
  const way = pathToRoot(workspace!, folder);
  const before = needed.slice(0, MAX_BUILT).map(({ path }) => `(cd ${way}/${path} && ${manager.run} build)`);
  return [...before, ...(own === undefined ? [] : [own])].join(" && ");
}

function isSame({ folder, workspace }: NodePackage, path: string): boolean {
  return workspace!.root.at(path).path === folder.path;
}
