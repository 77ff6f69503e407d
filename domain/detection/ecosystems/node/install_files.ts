import { type JsonObject, memberOf, textOf } from "../../text/json_text.ts";
import { PRISMA_SCHEMAS } from "./env.ts";
import { dependsOn, type NodePackage, scriptText } from "./package.ts";
import { plainPath } from "../../plain_names.ts";
import type { ProjectFolder } from "../../project_folder.ts";

const SETTINGS = [
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".pnpmfile.mjs",
  "pnpm-workspace.yaml",
  "bunfig.toml",
  ".pnp.cjs",
  ".pnp.loader.mjs",
];
const FOLDERS = [".yarn/releases", ".yarn/plugins", ".yarn/patches", "patches"];
const LIFECYCLE = ["preinstall", "install", "postinstall", "prepare", "prepublish"];
/** Lifecycle commands that need no sources of the project. */
const HARMLESS =
  /^(?:npx |yarn |pnpm |bunx |exec |-y |--yes )*(?:husky(?: install)?(?: [\w./-]+)?|lefthook install|simple-git-hooks|is-ci|only-allow [a-z]+|patch-package|prisma generate|nuxt prepare|nuxi prepare|exit 0|true|:)$/;
const DEPENDENCIES = ["dependencies", "devDependencies", "optionalDependencies"];
/** Patch files are named after packages and their versions. */
const FILE = /^[\w@.+][\w@.+/-]*$/;
const MAX_FILES = 300;

/** The files that the install command reads, relative to the folder of the lockfile; none when it may read any file. */
export function installFiles(project: NodePackage): string[] {
  const { manager, manifest, workspace } = project;
  const { home, lockfile } = manager;
  const packages = [{ path: "", manifest: workspace?.manifest ?? manifest }, ...(workspace?.members ?? [])];
  if (home.hasFolder(".yarn/cache") || packages.some((one) => needsSources(one.manifest))) return [];
  const files = [
    ...packages.map(({ path }) => inside(path, "package.json")).filter((path) => home.has(path)),
    ...(lockfile === undefined ? [] : [lockfile]),
    ...SETTINGS.filter((name) => home.has(name)),
    ...FOLDERS.flatMap((name) =>
      home
        .at(name)
        .files()
        .map((path) => inside(name, path)),
    ),
    ...packages.flatMap((one) => schemas(home, one)),
  ];
  return files.length <= MAX_FILES && files.every((path) => FILE.test(path)) ? [...new Set(files)].toSorted() : [];
}

function inside(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

function needsSources(manifest: JsonObject): boolean {
  const scripts = LIFECYCLE.flatMap((name) => scriptText(manifest, name) ?? []);
  const versions = DEPENDENCIES.flatMap((kind) => Object.values(memberOf(manifest, kind) ?? {}));
  const local = versions.some(
    (version) => typeof version === "string" && /^(?:file:|link:|portal:|\.{1,2}\/)/.test(version),
  );
  return local || !scripts.every(isHarmless);
}

/** Returns whether the failure of a script is ignored, or none of its commands needs sources. */
function isHarmless(script: string): boolean {
  const text = script.slice(0, 500).trim();
  if (/\|\| (?:echo(?: ['"\w .!-]*)?|true|exit 0|:)$/.test(text)) return true;
  return text.split(/ *(?:&&|\|\||;) */).every((part) => HARMLESS.test(part));
}

/** The schema files that Prisma generates its client from on install. */
function schemas(
  home: ProjectFolder,
  { path, manifest }: { readonly path: string; readonly manifest: JsonObject },
): string[] {
  if (!dependsOn(manifest, "prisma") && !dependsOn(manifest, "@prisma/client")) return [];
  const folder = path === "" ? home : home.at(path);
  const named = plainPath(textOf(memberOf(manifest, "prisma"), "schema"));
  const configs = ["prisma.config.ts", "prisma.config.js", "prisma.config.mjs"];
  const several = folder
    .at("prisma/schema")
    .files()
    .map((file) => `prisma/schema/${file}`);
  const known = [...(named === undefined ? [] : [named]), ...PRISMA_SCHEMAS, ...configs].filter((file) =>
    folder.has(file),
  );
  return [...known, ...several.filter((file) => file.endsWith(".prisma"))].map((file) => inside(path, file));
}
