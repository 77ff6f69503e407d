import type { Ecosystem } from "./ecosystem.ts";
import { commentedJsonObject, memberOf, textOf } from "./json_text.ts";

const CONFIGS = ["deno.json", "deno.jsonc"];
const ENTRIES = ["main", "server", "app", "mod", "index", "src/main", "src/server", "src/index"].flatMap((name) =>
  ["ts", "tsx", "js"].map((ending) => `${name}.${ending}`),
);

/** Projects with a deno.json that says how to start, or that is all they have. */
export const deno: Ecosystem = {
  manifests: CONFIGS,
  detect(folder) {
    const path = folder.first(CONFIGS);
    if (path === undefined) return undefined;
    const config = commentedJsonObject(folder.text(path) ?? "");
    if (config === undefined) {
      const warning = `Cannot read ${path}: it is not a JSON object. Correct it, or set the commands yourself`;
      return { language: "typescript", packageManager: "deno", warnings: [warning], broken: true };
    }
    const tasks = memberOf(config, "tasks");
    const started = ["start", "serve"].find((name) => textOf(tasks, name) !== undefined);
    if (started === undefined && folder.has("package.json")) return undefined;
    const entry = folder.first(ENTRIES);
    const run = entry === undefined ? null : `deno run --allow-net --allow-env --allow-read ${entry}`;
    const imports = Object.keys(memberOf(config, "imports") ?? {});
    return {
      language: "typescript",
      framework: imports.some((name) => /^(?:\$fresh\/|@fresh\/core)/.test(name)) ? "fresh" : null,
      packageManager: "deno",
      buildCommand: textOf(tasks, "build") === undefined ? null : "deno task build",
      startCommand: started === undefined ? run : `deno task ${started}`,
      port: 8000,
    };
  },
};
