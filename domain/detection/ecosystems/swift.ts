import { chosenVersion } from "../chosen_version.ts";
import { type Ecosystem, type Finding, warned } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";
import type { ProjectFolder } from "../project_folder.ts";
import { matched, withoutComments } from "../text/source_text.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../tool_versions.ts";

const KNOWN = { lines: ["6.2", "6.1", "6.0", "5.10", "5.9", "5.8", "5.7"], preset: "6.1" };
/** Frameworks with the arguments that make them listen on `$PORT`. */
const FRAMEWORKS: readonly (readonly [mark: string, name: string, given: string])[] = [
  ["vapor/vapor", "vapor", " serve --env production --hostname 0.0.0.0 --port $PORT"],
  ["hummingbird-project/hummingbird", "hummingbird", " --hostname 0.0.0.0 --port $PORT"],
];
const NO_START =
  "Cannot tell how to start the project: Package.swift has no executable target whose name is plain. Add one, or set the start command";

/** Swift packages with an executable, including Vapor and Hummingbird. */
export const swift: Ecosystem = {
  manifests: ["Package.swift", ".swift-version", ...TOOL_VERSION_FILES],
  detect(folder) {
    if (!folder.has("Package.swift")) return undefined;
    const written = folder.text("Package.swift") ?? "";
    const text = withoutComments(written, "//");
    const least = matched(written.slice(0, 1_000), /swift-tools-version:[ \t]*(\d{1,2}(?:\.\d{1,2}){0,2})/);
    const { version, warnings } = chosenVersion(
      "Swift",
      [
        { from: ".swift-version", wanted: versionFile(folder, ".swift-version") },
        { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["swift"]) },
        { from: "Package.swift", wanted: least === undefined ? undefined : `>=${least}` },
      ],
      KNOWN,
    );
    const [, framework, given = ""] = FRAMEWORKS.find(([mark]) => text.includes(mark)) ?? [];
    const name = programOf(folder, text);
    const found: Finding = {
      language: "swift",
      languageVersion: version,
      framework: framework ?? null,
      packageManager: "swiftpm",
      installCommand: "swift package resolve",
      warnings,
    };
    if (name === undefined) return warned(found, NO_START);
    const bundles = text.includes("resources:") ? " && (cp -R .build/release/*.resources bin/ || true)" : "";
    return {
      ...found,
      // The output folder depends on the architecture, so the result is copied to a fixed one.
      buildCommand: `swift build -c release --product ${name} && mkdir -p bin && cp .build/release/${name} bin/${bundles}`,
      startCommand: `./bin/${name}${given}`,
      port: 8080,
      image: recipe(`swift:${version}-jammy`, {
        runImage: `swift:${version}-jammy-slim`,
        runPackages: ["ca-certificates", "libcurl4", "libxml2", "tzdata"],
        manifests: ["Package.swift", "Package.resolved"].filter((path) => folder.has(path)),
        caches: ["/root/.cache/org.swift.swiftpm"],
        keep: ["bin", ...["Public", "Resources"].filter((path) => folder.hasFolder(path))],
      }),
    };
  },
};

/** The first executable of the package; older packages have only a main.swift. */
function programOf(folder: ProjectFolder, text: string): string | undefined {
  const declared = matched(text, /\.executableTarget\([ \t\r\n]*name:[ \t]*"([A-Za-z_]\w{0,60})"/);
  const product = matched(text, /\.executable\([ \t\r\n]*name:[ \t]*"([A-Za-z_]\w{0,60})"/);
  if (product !== undefined || declared !== undefined) return product ?? declared;
  const sources = folder.at("Sources");
  return sources.folders().find((name) => /^[A-Za-z_]\w{0,60}$/.test(name) && sources.has(`${name}/main.swift`));
}
