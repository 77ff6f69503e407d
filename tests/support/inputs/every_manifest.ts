import { LibraryManifestParser } from "../../../adapters/manifests/manifest_parser.ts";
import { detect, type Detection } from "../../../domain/detection/detect.ts";
import { ECOSYSTEMS, REFINEMENTS } from "../../../domain/detection/ecosystems.ts";
import { isManifest } from "../../../domain/detection/manifests.ts";

/** Texts by the path of their file. */
export type Files = Readonly<Record<string, string>>;

/** Where files lie that are not looked for at the root. */
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
/** Names that only a pattern tells. */
const MATCHING = ["App.csproj", "app.cabal", "Dockerfile.prod", "next.config.mjs", "vite.config.ts"];
const NAMES = [...ECOSYSTEMS, ...REFINEMENTS].flatMap(({ manifests }) =>
  manifests.filter((name) => typeof name === "string"),
);

/** A path of every manifest that some ecosystem reads. */
export const EVERY_MANIFEST: readonly string[] = [...new Set([...NAMES, ...MATCHING])]
  .map((name) => PLACES[name] ?? name)
  .toSorted();

const parser = new LibraryManifestParser();

/** What `detect` says of these files, with the text of manifests only. */
export function detectedIn(files: Files): Detection {
  const parsed = new Map<string, unknown>();
  const text = (path: string) => (isManifest(path) && Object.hasOwn(files, path) ? files[path] : undefined);
  const data = (path: string) => {
    if (!parsed.has(path)) parsed.set(path, parser.parse(path, text(path) ?? ""));
    return parsed.get(path);
  };
  return detect({ paths: Object.keys(files).toSorted(), text, data });
}
