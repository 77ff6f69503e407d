import type { Ecosystem } from "../../ecosystem.ts";
import { recipe } from "../../image_recipe.ts";
import { bunVersion } from "./versions.ts";

const SIGNS = ["bunfig.toml", "bun.lock", "bun.lockb", ".bun-version"];
const ENTRIES = ["index", "server", "app", "main", "src/index", "src/server", "src/app", "src/main"].flatMap((name) =>
  ["ts", "tsx", "js"].map((ending) => `${name}.${ending}`),
);

/**
 * Bun programs without a package.json; the Node ecosystem detects those with one, with Bun as their package manager.
 */
export const bun: Ecosystem = {
  manifests: [],
  detect(folder) {
    if (folder.first(SIGNS) === undefined || folder.has("package.json")) return undefined;
    const entry = folder.first(ENTRIES);
    if (entry === undefined) return undefined;
    const { version, warnings } = bunVersion(folder, []);
    return {
      language: entry.endsWith("js") ? "javascript" : "typescript",
      languageVersion: version,
      packageManager: "bun",
      startCommand: `bun ${entry}`,
      port: 3000,
      image: recipe(`oven/bun:${version}-slim`, { runEnvironment: { NODE_ENV: "production" } }),
      warnings,
    };
  },
};
