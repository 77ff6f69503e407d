import { chosenVersion } from "../chosen_version.ts";
import type { DetectedVariable } from "../detection.ts";
import { type Ecosystem, type Finding, warned } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";
import type { ProjectFolder } from "../project_folder.ts";
import { matched, property, withoutComments } from "../text/source_text.ts";
import { TOOL_VERSION_FILES, toolVersion } from "../tool_versions.ts";

const KNOWN = {
  lines: ["1.19", "1.18", "1.17", "1.16", "1.15", "1.14", "1.13", "1.12", "1.11", "1.10"],
  preset: "1.18",
};
const BUILDPACK = "elixir_buildpack.config";
const INSTALLED_TOOLS = "mix local.hex --force --if-missing && mix local.rebar --force --if-missing";
/** Set by the start command or the platform. */
const GIVEN = new Set(["PORT", "PHX_SERVER"]);
const NO_START =
  "Cannot tell how to start the project: mix.exs names no application module that starts something. Add mod to application, or set the start command";

/** Elixir programs, including Phoenix; built as releases where their name is known. */
export const elixir: Ecosystem = {
  manifests: ["mix.exs", "runtime.exs", "releases.exs", "prod.secret.exs", BUILDPACK, ...TOOL_VERSION_FILES],
  detect(folder) {
    if (!folder.has("mix.exs")) return undefined;
    return describe(folder, withoutComments(folder.text("mix.exs") ?? "", "#"));
  },
};

function describe(folder: ProjectFolder, mix: string): Finding {
  const members = membersOf(folder, mix);
  const texts = [mix, ...members.map((path) => withoutComments(folder.text(`${path}/mix.exs`) ?? "", "#"))];
  const uses = (name: string) => texts.some((text) => text.includes(`{:${name},`));
  const framework = uses("phoenix") ? "phoenix" : uses("plug_cowboy") || uses("bandit") ? "plug" : undefined;
  const { version, warnings } = versionOf(folder, mix);
  const assets = assetsOf(folder, mix);
  const found: Finding = {
    language: "elixir",
    languageVersion: version,
    framework: framework ?? null,
    packageManager: "mix",
    installCommand: `${INSTALLED_TOOLS} && mix deps.get --only prod`,
    env: variablesOf(folder, framework === "phoenix"),
    warnings,
  };
  const started = startOf(folder, mix, framework);
  if (started === undefined) return warned(found, NO_START);
  const steps = ["export MIX_ENV=prod", ...assets.install, "mix compile", ...assets.build];
  return {
    ...found,
    buildCommand: [...steps, ...(started.release ? ["mix release --overwrite"] : [])].join(" && "),
    startCommand: started.command,
    port: 4000,
    image: recipe(`elixir:${imageTag(folder, version)}`, {
      buildPackages: ["build-essential", "ca-certificates", "git", ...assets.packages],
      manifests: ["mix.exs", "mix.lock", ...members.map((path) => `${path}/mix.exs`)].filter((path) =>
        folder.has(path),
      ),
      environment: { LANG: "C.UTF-8", MIX_HOME: "/opt/mix" },
      caches: ["/root/.hex", "/root/.cache"],
      keep: started.release ? [`_build/prod/rel/${started.release}`] : [".", "/opt/mix"],
    }),
  };
}

/** The applications of an umbrella project. */
function membersOf(folder: ProjectFolder, mix: string): string[] {
  const place = matched(mix, /\bapps_path:[ \t]*"([A-Za-z0-9_-]{1,50})"/);
  if (place === undefined) return [];
  const names = folder
    .at(place)
    .folders()
    .filter((name) => /^[A-Za-z0-9_]+$/.test(name));
  return names.map((name) => `${place}/${name}`).filter((path) => folder.has(`${path}/mix.exs`));
}

/** Starts a release if its name is known, else the server through Mix, which needs all files at run time. */
function startOf(
  folder: ProjectFolder,
  mix: string,
  framework: string | undefined,
): { readonly command: string; readonly release?: string } | undefined {
  const umbrella = /\bapps_path:/.test(mix);
  const release = matched(
    mix,
    /\breleases:[ \t]*\[[ \t\r\n]*([a-z_]\w{0,60}):/,
    /\bdefp? releases(?:\(\))?[ \t]+do[ \t\r\n]*\[[ \t\r\n]*([a-z_]\w{0,60}):/,
    ...(umbrella ? [] : [/\bapp:[ \t]*:([a-z_]\w{0,60})\b/]),
  );
  const phoenix = framework === "phoenix";
  const configured = folder.has("config/runtime.exs") || folder.has("config/releases.exs");
  if (!umbrella && !phoenix && !/\bmod:[ \t]*\{/.test(mix)) return undefined;
  if (release === undefined || (phoenix && !configured)) {
    return { command: phoenix ? "MIX_ENV=prod mix phx.server" : "MIX_ENV=prod mix run --no-halt" };
  }
  const program = `_build/prod/rel/${release}/bin/${release} start`;
  return { command: phoenix ? `PHX_SERVER=true ${program}` : program, release };
}

/** How to build the frontend assets: by Mix alone, or with npm packages. */
function assetsOf(folder: ProjectFolder, mix: string) {
  const build = mix.includes('"assets.deploy":') ? ["mix assets.deploy"] : [];
  const packages = folder.has("assets/package.json");
  const deploys = packages && build.length === 0 && /"deploy"[ \t]*:/.test(folder.text("assets/package.json") ?? "");
  const clean = folder.has("assets/package-lock.json") ? "ci" : "install";
  return {
    install: packages ? [`(cd assets && npm ${clean})`] : [],
    build: deploys ? ["(cd assets && npm run deploy)", "mix phx.digest"] : build,
    packages: packages ? ["nodejs", "npm"] : [],
  };
}

function versionOf(folder: ProjectFolder, mix: string) {
  const requirements = [
    { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["elixir"]) },
    { from: BUILDPACK, wanted: property(folder.text(BUILDPACK) ?? "", "elixir_version") },
    { from: "mix.exs", wanted: matched(mix, /\belixir:[ \t]*"([^"\n]{1,60})"/) },
  ];
  // A version may have a suffix with its Erlang/OTP version.
  const plain = requirements.map(({ from, wanted }) => ({
    from,
    wanted: wanted?.replace(/-otp-\d+$/, "").replaceAll(/ (?:and|or) /g, (word) => (word === " or " ? " || " : ", ")),
  }));
  return chosenVersion("Elixir", plain, KNOWN);
}

/** The image tag, with the Erlang/OTP version if the project names one. */
function imageTag(folder: ProjectFolder, version: string): string {
  const erlang =
    /-otp-(\d{2})$/.exec(toolVersion(folder, ["elixir"]) ?? "")?.[1] ??
    /^(?:ref:|OTP-)?(\d{2})(?:\.|$)/.exec(
      toolVersion(folder, ["erlang"]) ?? property(folder.text(BUILDPACK) ?? "", "erlang_version") ?? "",
    )?.[1];
  return erlang === undefined ? `${version}-slim` : `${version}-otp-${erlang}-slim`;
}

/**
 * The environment variables read at startup. Phoenix always needs `SECRET_KEY_BASE`, even if no configuration shows it.
 */
function variablesOf(folder: ProjectFolder, phoenix: boolean): DetectedVariable[] {
  const texts = ["runtime.exs", "releases.exs", "prod.secret.exs"].map((name) => folder.text(`config/${name}`) ?? "");
  const text = withoutComments(texts.join("\n"), "#");
  const found = new Map<string, boolean>();
  const add = (key: string, required: boolean) => found.set(key, required || found.get(key) === true);
  for (const [, key = ""] of text.matchAll(/System\.fetch_env!\("([A-Z][A-Z0-9_]{0,60})"\)/g)) add(key, true);
  for (const [, key = "", raises] of text.matchAll(
    /System\.get_env\("([A-Z][A-Z0-9_]{0,60})"[^)\n]{0,100}\)(\s{0,100}\|\|\s{0,100}raise\b)?/g,
  )) {
    add(key, raises !== undefined);
  }
  if (phoenix) add("SECRET_KEY_BASE", true);
  return [...found].filter(([key]) => !GIVEN.has(key)).map(([key, required]) => ({ key, required }));
}
