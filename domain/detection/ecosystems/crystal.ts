import { chosenVersion } from "../chosen_version.ts";
import { type Ecosystem, type Finding, warned } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";
import { memberOf, objectOf, textOf } from "../text/json_text.ts";
import type { ProjectFolder } from "../project_folder.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../tool_versions.ts";

const KNOWN = { lines: ["1.16.3"], preset: "1.16.3" };
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
/** Frameworks with their default port and the arguments that make them listen on `$PORT`. */
const FRAMEWORKS: readonly (readonly [shard: string, port: number, given: string])[] = [
  ["kemal", 3000, " --bind 0.0.0.0 --port $PORT"],
  ["lucky", 5000, ""],
  ["amber", 3000, ""],
  ["athena", 3000, ""],
  ["marten", 8000, " serve --host 0.0.0.0 --port $PORT"],
  ["grip", 4004, ""],
];
const NO_START =
  "Cannot tell how to start the project: shard.yml has no target and there is no file of its name in src. Add a target, or set the start command";
const UNREADABLE = "Cannot read shard.yml: it is not YAML. Correct it, or set the commands yourself";

/** Crystal programs that Shards builds. */
export const crystal: Ecosystem = {
  manifests: ["shard.yml", ".crystal-version", ...TOOL_VERSION_FILES],
  detect(folder) {
    if (!folder.has("shard.yml")) return undefined;
    const shard = objectOf(folder.data("shard.yml"));
    if (shard === undefined) {
      return { language: "crystal", packageManager: "shards", warnings: [UNREADABLE], broken: true };
    }
    const { version, warnings } = chosenVersion(
      "Crystal",
      [
        { from: ".crystal-version", wanted: versionFile(folder, ".crystal-version") },
        { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["crystal"]) },
        { from: "shard.yml", wanted: textOf(shard, "crystal") },
      ],
      KNOWN,
    );
    const locked = folder.has("shard.lock") ? "--production" : "--without-development";
    const used = memberOf(shard, "dependencies") ?? {};
    const [framework, port, given = ""] = FRAMEWORKS.find(([name]) => Object.hasOwn(used, name)) ?? [];
    const found: Finding = {
      language: "crystal",
      languageVersion: version,
      framework: framework ?? null,
      packageManager: "shards",
      installCommand: `shards install ${locked}`,
      warnings,
    };
    const target = targetOf(folder, memberOf(shard, "targets"), textOf(shard, "name"));
    if (target === undefined) return warned(found, NO_START);
    return {
      ...found,
      buildCommand: target.build,
      startCommand: `./bin/${target.name}${given}`,
      port: port ?? 3000,
      // Programs need the libraries of the Linux release that they were built on, so both stages use the same image.
      image: recipe(`crystallang/crystal:${version}`, {
        manifests: ["shard.yml", "shard.lock"].filter((path) => folder.has(path)),
        caches: ["/root/.cache"],
        keep: [`bin/${target.name}`, ...["public", "views", "config"].filter((path) => folder.hasFolder(path))],
      }),
    };
  },
};

function targetOf(folder: ProjectFolder, targets: ReturnType<typeof memberOf>, own: string | undefined) {
  const names = Object.keys(targets ?? {}).filter((name) => PLAIN.test(name));
  const name =
    names.find((candidate) => candidate === own) ??
    names.find((candidate) => /server|web|app/.test(candidate)) ??
    names[0];
  if (name !== undefined) return { name, build: `shards build ${name} --release --no-debug` };
  const main = folder.commandPath(`src/${own}.cr`);
  if (main === undefined || own === undefined || !PLAIN.test(own)) return undefined;
  return { name: own, build: `mkdir -p bin && crystal build ${main} --release -o bin/${own}` };
}
