import type { ImageRecipe } from "../../image_recipe.ts";
import { jsonObject, memberOf, textOf } from "../../text/json_text.ts";
import { packageManager } from "./packages.ts";
import { nodeVersion } from "./versions.ts";
import type { ProjectFolder } from "../../project_folder.ts";

/** The Node packages with which a project in another language builds its scripts and styles. */
export interface AssetPackages {
  readonly install: string;
  /** `undefined` when package.json has no build script. */
  readonly build: string | undefined;
  /** The files that the install command reads. */
  readonly manifests: readonly string[];
  /** Installs Node.js in an image of another language. */
  readonly setup: ImageRecipe["setup"];
  readonly caches: readonly string[];
}

const FILES = [
  "package.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "yarn.lock",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "bun.lock",
  "bun.lockb",
  ".npmrc",
  ".yarnrc.yml",
];

/**
 * How to build the scripts and styles beside a program in another language; `undefined` when there is nothing to
 * install.
 */
export function assetPackages(folder: ProjectFolder): AssetPackages | undefined {
  const manifest = jsonObject(folder.text("package.json") ?? "");
  if (manifest === undefined) return undefined;
  const { name, install, run } = packageManager(folder, manifest);
  if (install === undefined) return undefined;
  const { version } = nodeVersion(folder, [manifest]);
  const tool =
    name === "bun"
      ? "npm install --global bun"
      : name === "npm"
        ? undefined
        : "npm install --global --force corepack && corepack enable";
  const node = `curl -fsSL https://deb.nodesource.com/setup_${version.split(".")[0]}.x | bash - && apt-get install -y --no-install-recommends nodejs`;
  return {
    install,
    build: textOf(memberOf(manifest, "scripts"), "build") === undefined ? undefined : `${run} build`,
    manifests: FILES.filter((path) => folder.has(path)),
    setup: [node, ...(tool === undefined ? [] : [tool])].map((command) => ({ command, stages: ["build"] })),
    caches: ["/root/.npm"],
  };
}
