import { LibraryManifestParser } from "../../../adapters/manifests/manifest_parser.ts";
import { detect, type Detection } from "../../../domain/detection/detect.ts";
import { ECOSYSTEMS, REFINEMENTS } from "../../../domain/detection/ecosystems.ts";
import { isManifest } from "../../../domain/detection/manifests.ts";

/** File contents by path. */
export type Files = Readonly<Record<string, string>>;

/** The paths of manifests that are not in the root. */
const PLACES: Readonly<Record<string, string>> = {
  "maven-wrapper.properties": ".mvn/wrapper/maven-wrapper.properties",
  "gradle-wrapper.properties": "gradle/wrapper/gradle-wrapper.properties",
  "libs.versions.toml": "gradle/libs.versions.toml",
  "build.properties": "project/build.properties",
  "plugins.sbt": "project/plugins.sbt",
  "application.conf": "conf/application.conf",
  "application.properties": "src/main/resources/application.properties",
  "runtime.exs": "config/runtime.exs",
};
/** Names that only match by pattern. */
const MATCHING = ["App.csproj", "app.cabal", "Dockerfile.prod", "next.config.mjs", "vite.config.ts"];
const NAMES = [...ECOSYSTEMS, ...REFINEMENTS].flatMap(({ manifests }) =>
  manifests.filter((name) => typeof name === "string"),
);

/** One path for every manifest that some ecosystem reads. */
export const EVERY_MANIFEST: readonly string[] = [...new Set([...NAMES, ...MATCHING])]
  .map((name) => PLACES[name] ?? name)
  .toSorted();

const parser = new LibraryManifestParser();

/** Runs `detect` on these files, with the contents of manifests only. */
export function detectedIn(files: Files): Detection {
  const parsed = new Map<string, unknown>();
  const text = (path: string) => (isManifest(path) && Object.hasOwn(files, path) ? files[path] : undefined);
  const data = (path: string) => {
    if (!parsed.has(path)) parsed.set(path, parser.parse(path, text(path) ?? ""));
    return parsed.get(path);
  };
  return detect({ paths: Object.keys(files).toSorted(), text, data });
}
