import { chosenVersion } from "../chosen_version.ts";
import { type Ecosystem, type Finding, warned } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";
import { type JsonObject, memberOf, objectOf, textOf } from "../text/json_text.ts";
import type { ProjectFolder } from "../project_folder.ts";
import { TOOL_VERSION_FILES, toolVersion } from "../tool_versions.ts";

const KNOWN = {
  lines: ["3.10", "3.9", "3.8", "3.7", "3.6", "3.5", "3.4", "3.3", "3.2", "3.1", "3.0", "2.19", "2.18"],
  preset: "3.10",
};
const PLAIN = /^[A-Za-z_]\w*$/;
const UNREADABLE = "Cannot read pubspec.yaml: it is not YAML. Correct it, or set the commands yourself";
const NO_START =
  "Cannot tell how to start the project: there is no bin/server.dart, bin/main.dart or program of the package's name in bin. Add one, or set the start command";
const FLUTTER = "Cannot deploy a Flutter app except as a web app: only its web part is built, not its mobile apps";
const NO_WEB = "Cannot deploy a Flutter app without its web part: add it with flutter create --platforms web .";

/** Dart servers, and the web part of Flutter apps. */
export const dart: Ecosystem = {
  manifests: ["pubspec.yaml", ...TOOL_VERSION_FILES],
  detect(folder) {
    if (!folder.has("pubspec.yaml")) return undefined;
    const manifest = objectOf(folder.data("pubspec.yaml"));
    if (manifest === undefined)
      return { language: "dart", packageManager: "pub", warnings: [UNREADABLE], broken: true };
    const used = memberOf(manifest, "dependencies") ?? {};
    if (Object.hasOwn(used, "flutter") || Object.hasOwn(manifest, "flutter")) return flutter(folder, manifest);
    return server(folder, manifest, used);
  },
};

function flutter(folder: ProjectFolder, manifest: JsonObject): Finding {
  const wanted = textOf(memberOf(manifest, "environment"), "flutter") ?? toolVersion(folder, ["flutter"]);
  const version = /^\^?(\d{1,2}\.\d{1,3}\.\d{1,3})$/.exec(wanted?.trim() ?? "")?.[1] ?? "stable";
  const found: Finding = {
    language: "dart",
    languageVersion: version === "stable" ? null : version,
    framework: "flutter",
    packageManager: "pub",
    installCommand: "flutter pub get",
  };
  if (!folder.has("web/index.html")) return warned(found, NO_WEB);
  return warned(
    {
      ...found,
      projectType: "static",
      buildCommand: "flutter build web --release",
      outputDirectory: "build/web",
      image: recipe(`ghcr.io/cirruslabs/flutter:${version}`, {
        manifests: ["pubspec.yaml", "pubspec.lock"].filter((path) => folder.has(path)),
        caches: ["/root/.pub-cache"],
        keep: ["build/web"],
      }),
    },
    FLUTTER,
  );
}

function server(folder: ProjectFolder, manifest: JsonObject, used: JsonObject): Finding {
  const { version, warnings } = chosenVersion(
    "Dart",
    [
      { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["dart"]) },
      { from: "pubspec.yaml", wanted: textOf(memberOf(manifest, "environment"), "sdk") },
    ],
    KNOWN,
  );
  const framework = ["dart_frog", "serverpod", "shelf", "conduit", "alfred"].find((name) => Object.hasOwn(used, name));
  const frog = framework === "dart_frog";
  const found: Finding = {
    language: "dart",
    languageVersion: version,
    framework: framework ?? null,
    packageManager: "pub",
    installCommand: "dart pub get",
    warnings,
  };
  const main = frog ? "build/bin/server.dart" : programOf(folder, textOf(manifest, "name"));
  if (main === undefined) return warned(found, NO_START);
  const compile = `mkdir -p build/bin && dart compile exe ${main} -o build/bin/server`;
  const generate = "dart pub global activate dart_frog_cli && dart pub global run dart_frog_cli:dart_frog build";
  const kept = ["public", "config", "web", "migrations"].filter((path) => folder.hasFolder(path));
  return {
    ...found,
    buildCommand: frog ? `${generate} && cd build && dart pub get && cd .. && ${compile}` : compile,
    startCommand: "./build/bin/server",
    port: 8080,
    image: recipe(`dart:${version}`, {
      runImage: "debian:bookworm-slim",
      runPackages: ["ca-certificates"],
      manifests: ["pubspec.yaml", "pubspec.lock"].filter((path) => folder.has(path)),
      caches: ["/root/.pub-cache"],
      keep: ["build/bin/server", ...kept],
    }),
  };
}

function programOf(folder: ProjectFolder, name: string | undefined): string | undefined {
  const own = name !== undefined && PLAIN.test(name) ? [`bin/${name}.dart`] : [];
  const named = folder.first(["bin/server.dart", "bin/main.dart", ...own]);
  if (named !== undefined) return named;
  const others = folder
    .at("bin")
    .names()
    .filter((path) => /^[A-Za-z_]\w*\.dart$/.test(path));
  return others.length === 1 ? `bin/${others[0]}` : undefined;
}
