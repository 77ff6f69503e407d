import { chosenVersion } from "../chosen_version.ts";
import { type Ecosystem, type Finding, warned } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";
import { matched, withoutComments } from "../text/source_text.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../tool_versions.ts";

// Zig releases are incompatible with each other, so the version that a project names is used.
const KNOWN = { lines: ["0.15.2", "0.14.1", "0.13.0", "0.12.1", "0.11.0"], preset: "0.14.1" };
const FRAMEWORKS = ["jetzig", "tokamak", "httpz", "zap"];
const EXECUTABLE = /\baddExecutable\([ \t]*\.\{[ \t\r\n]*\.name[ \t]*=[ \t]*(?:"|\.)([A-Za-z_][A-Za-z0-9_-]{0,60})/;
const NO_START =
  "Cannot tell how to start the project: build.zig adds no executable whose name is plain. Set the start command";

/** Zig programs with a build file. */
export const zig: Ecosystem = {
  manifests: ["build.zig", "build.zig.zon", ".zigversion", ".zig-version", ...TOOL_VERSION_FILES],
  detect(folder) {
    if (!folder.has("build.zig")) return undefined;
    const build = withoutComments(folder.text("build.zig") ?? "", "//");
    const description = withoutComments(folder.text("build.zig.zon") ?? "", "//");
    const { version, warnings } = chosenVersion(
      "Zig",
      [
        { from: ".zigversion", wanted: versionFile(folder, ".zigversion") ?? versionFile(folder, ".zig-version") },
        { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["zig"]) },
        {
          from: "build.zig.zon",
          wanted: matched(description, /\.minimum_zig_version[ \t]*=[ \t]*"(\d{1,3}\.\d{1,3}\.\d{1,3})/),
        },
      ],
      KNOWN,
    );
    const found: Finding = {
      language: "zig",
      languageVersion: version,
      framework: FRAMEWORKS.find((name) => new RegExp(`\\.${name}\\b`).test(description)) ?? null,
      packageManager: "zig",
      installCommand: folder.has("build.zig.zon") && !isOld(version) ? "zig build --fetch" : null,
      warnings,
    };
    const name = matched(build, EXECUTABLE);
    if (name === undefined) return warned(found, NO_START);
    return {
      ...found,
      buildCommand: isOld(version) ? "zig build -Doptimize=ReleaseSafe" : "zig build --release=safe",
      startCommand: `./zig-out/bin/${name}`,
      port: 8080,
      image: recipe("debian:bookworm-slim", {
        buildPackages: ["ca-certificates", "curl", "git", "xz-utils"],
        runPackages: ["ca-certificates"],
        setup: [{ command: installZig(version), stages: ["build"] }],
        manifests: ["build.zig", "build.zig.zon"].filter((path) => folder.has("build.zig.zon") && folder.has(path)),
        caches: ["/root/.cache/zig"],
        keep: ["zig-out", ...["public", "static", "templates"].filter((path) => folder.hasFolder(path))],
      }),
    };
  },
};

/** Before 0.12, release builds used another option, and dependencies could not be fetched beforehand. */
function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major === 0 && minor < 12;
}

/** Installs Zig. Since 0.14.1, the architecture comes before the operating system in archive names. */
function installZig(version: string): string {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const swapped = major > 0 || minor > 14 || (minor === 14 && patch > 0);
  const machine = swapped ? "$(uname -m)-linux" : "linux-$(uname -m)";
  const url = `https://ziglang.org/download/${version}/zig-${machine}-${version}.tar.xz`;
  return `mkdir -p /opt/zig && curl -fsSL ${url} | tar -xJ -C /opt/zig --strip-components=1 && ln -s /opt/zig/zig /usr/local/bin/zig`;
}
