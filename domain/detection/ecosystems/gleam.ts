import { chosenVersion } from "../chosen_version.ts";
import { type Ecosystem, warned } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";
import { memberOf, objectOf, textOf } from "../text/json_text.ts";
import { TOOL_VERSION_FILES, toolVersion } from "../tool_versions.ts";

const KNOWN = { lines: ["1.14.0"], preset: "1.14.0" };
const UNREADABLE = "Cannot read gleam.toml: it is not TOML. Correct it, or set the commands yourself";
const BROWSER =
  "Cannot start a Gleam project that is compiled to JavaScript for browsers: set the build command and the output directory";

/** Gleam programs that run on Erlang, and pages that Lustre's tools build. */
export const gleam: Ecosystem = {
  manifests: ["gleam.toml", ...TOOL_VERSION_FILES],
  detect(folder) {
    if (!folder.has("gleam.toml")) return undefined;
    const manifest = objectOf(folder.data("gleam.toml"));
    if (manifest === undefined)
      return { language: "gleam", packageManager: "gleam", warnings: [UNREADABLE], broken: true };
    const required = textOf(manifest, "gleam")?.replaceAll(" and ", ", ");
    const { version, warnings } = chosenVersion(
      "Gleam",
      [
        { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["gleam"]) },
        { from: "gleam.toml", wanted: required },
      ],
      KNOWN,
    );
    const uses = (name: string) =>
      ["dependencies", "dev-dependencies", "dev_dependencies"].some((key) =>
        Object.hasOwn(memberOf(manifest, key) ?? {}, name),
      );
    const served = uses("wisp") ? "wisp" : uses("mist") ? "mist" : undefined;
    const image = recipe(`ghcr.io/gleam-lang/gleam:v${version}-erlang-slim`, {
      buildPackages: ["ca-certificates", "git"],
      manifests: ["gleam.toml", "manifest.toml"].filter((path) => folder.has(path)),
      caches: ["/root/.cache/gleam"],
      keep: ["build/erlang-shipment"],
    });
    const found = {
      language: "gleam",
      languageVersion: version,
      framework: served ?? (uses("lustre") ? "lustre" : null),
      packageManager: "gleam",
      installCommand: "gleam deps download",
      warnings,
    };
    if (textOf(manifest, "target") === "javascript" && served === undefined) {
      if (!uses("lustre_dev_tools")) return warned(found, BROWSER);
      const buildCommand = "gleam run -m lustre/dev build --minify --outdir=dist";
      return { ...found, projectType: "static", buildCommand, outputDirectory: "dist", image };
    }
    return {
      ...found,
      buildCommand: "gleam export erlang-shipment",
      startCommand: "./build/erlang-shipment/entrypoint.sh run",
      port: 8000,
      image,
    };
  },
};
