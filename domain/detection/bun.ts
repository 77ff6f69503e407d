import type { Ecosystem } from "./ecosystem.ts";

const ENTRIES = ["index", "server", "app", "main", "src/index", "src/server", "src/app", "src/main"].flatMap((name) =>
  ["ts", "tsx", "js"].map((ending) => `${name}.${ending}`),
);

/** Programs for Bun without a package.json; those with one are Node's, with Bun as their package manager. */
export const bun: Ecosystem = {
  manifests: [],
  detect(folder) {
    if (folder.first(["bunfig.toml", "bun.lock", "bun.lockb"]) === undefined || folder.has("package.json"))
      return undefined;
    const entry = folder.first(ENTRIES);
    if (entry === undefined) return undefined;
    return {
      language: entry.endsWith("js") ? "javascript" : "typescript",
      packageManager: "bun",
      startCommand: `bun ${entry}`,
      port: 3000,
    };
  },
};
