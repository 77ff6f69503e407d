import { chosenVersion } from "../chosen_version.ts";
import { type Ecosystem, type Finding, warned } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";
import { memberOf, objectOf, textOf } from "../text/json_text.ts";
import type { ProjectFolder } from "../project_folder.ts";
import { matched, withoutComments } from "../text/source_text.ts";
import { TOOL_VERSION_FILES, toolVersion } from "../tool_versions.ts";

const KNOWN = { lines: ["9.10", "9.8", "9.6", "9.4", "9.2", "9.0", "8.10"], preset: "9.6" };
/** The GHC version of each Stackage LTS line. */
const SNAPSHOTS: Readonly<Record<string, string>> = {
  "24": "9.10",
  "23": "9.8",
  "22": "9.6",
  "21": "9.4",
  "20": "9.2",
  "19": "9.0",
  "18": "8.10",
};
const FRAMEWORKS = ["yesod", "ihp", "servant-server", "scotty", "spock", "snap-server", "warp"];
const CABAL = /^[A-Za-z0-9_][A-Za-z0-9_-]*\.cabal$/;
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_.'-]*$/;
const NO_START =
  "Cannot tell how to start the project: its package has no executable. Add one, or set the start command";

/** Haskell programs that Stack or Cabal build. */
export const haskell: Ecosystem = {
  manifests: ["stack.yaml", "package.yaml", "cabal.project", CABAL, ...TOOL_VERSION_FILES],
  detect(folder) {
    const cabal = folder.names().find((name) => CABAL.test(name));
    const stack = folder.has("stack.yaml");
    if (!stack && cabal === undefined && !folder.has("cabal.project")) return undefined;
    const text = withoutComments(cabal === undefined ? "" : (folder.text(cabal) ?? ""), "--");
    const described = `${text}\n${folder.text("package.yaml") ?? ""}`;
    const name = executableOf(folder, text);
    const { version, warnings } = versionOf(folder, text);
    const framework = FRAMEWORKS.find((library) => described.includes(library));
    const found: Finding = {
      language: "haskell",
      languageVersion: version,
      framework: framework?.replace(/-server$/, "") ?? null,
      packageManager: stack ? "stack" : "cabal",
      warnings,
    };
    if (name === undefined) return warned(found, NO_START);
    const manifests = ["stack.yaml", "stack.yaml.lock", "package.yaml", "cabal.project", "cabal.project.freeze", cabal];
    return {
      ...found,
      ...(stack ? STACK : CABAL_INSTALL),
      buildCommand: stack ? `${STACK_BUILD} --copy-bins --local-bin-path bin` : cabalBuild(name),
      startCommand: `./bin/${name}`,
      port: framework === "ihp" ? 8000 : 3000,
      image: recipe(`haskell:${version}-slim`, {
        runImage: "debian:bookworm-slim",
        runPackages: ["ca-certificates", "libgmp10", "libnuma1", "netbase", "zlib1g"],
        manifests: manifests.filter((path) => path !== undefined && folder.has(path)).map(String),
        caches: ["/root/.stack", "/root/.cabal/packages", "/root/.cache"],
        keep: ["bin", ...["static", "config", "templates"].filter((path) => folder.hasFolder(path))],
      }),
    };
  },
};

/** Stack installs its own GHC, as it refuses the image's if that differs from the snapshot's in its patch version. */
const STACK_BUILD = "stack build --no-system-ghc --install-ghc";
const STACK = { installCommand: `${STACK_BUILD} --only-dependencies` };
const CABAL_INSTALL = { installCommand: "cabal update && cabal build --only-dependencies all" };

function cabalBuild(name: string): string {
  return `cabal install exe:${name} --installdir=bin --install-method=copy --overwrite-policy=always`;
}

/** The name of the first executable in package.yaml or the cabal file. */
function executableOf(folder: ProjectFolder, cabal: string): string | undefined {
  const described = memberOf(objectOf(folder.data("package.yaml")), "executables");
  const named = [...Object.keys(described ?? {}), matched(cabal, /^executable[ \t]+(\S{1,100})[ \t\r]*$/im)];
  const found = named.find((name) => name !== undefined && PLAIN.test(name));
  // A single, unnamed `executable` has the name of its package.
  const single = memberOf(objectOf(folder.data("package.yaml")), "executable");
  const own = single === undefined ? undefined : textOf(objectOf(folder.data("package.yaml")), "name");
  return found ?? (own !== undefined && PLAIN.test(own) ? own : undefined);
}

function versionOf(folder: ProjectFolder, cabal: string) {
  const stack = objectOf(folder.data("stack.yaml"));
  const snapshot = textOf(stack, "resolver") ?? textOf(stack, "snapshot") ?? "";
  const line = matched(snapshot, /(?:lts-|lts\/)(\d{1,3})\b/);
  const compiler = textOf(stack, "compiler") ?? snapshot;
  return chosenVersion(
    "GHC",
    [
      { from: "stack.yaml", wanted: matched(compiler, /^ghc-(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)$/) },
      { from: "stack.yaml", wanted: line === undefined ? undefined : SNAPSHOTS[line] },
      {
        from: "cabal.project",
        wanted: matched(
          folder.text("cabal.project") ?? "",
          /^with-compiler:[ \t]*ghc-(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)[ \t\r]*$/m,
        ),
      },
      { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["ghc", "haskell"]) },
      { from: "the cabal file", wanted: newestTested(cabal) },
    ],
    KNOWN,
  );
}

/** The newest known compiler line that a package says it was tested with. */
function newestTested(cabal: string): string | undefined {
  const tested = matched(cabal, /^tested-with:[ \t]*([^\n]{1,300})/im) ?? "";
  const versions = [...tested.matchAll(/\b(\d{1,2}\.\d{1,2})\.\d{1,2}\b/g)].map(([, version = ""]) => version);
  return KNOWN.lines.find((line) => versions.includes(line));
}
