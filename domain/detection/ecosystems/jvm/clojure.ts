import { type Ecosystem, type Finding, warned } from "../../ecosystem.ts";
import { JAVA_VERSION_FILES, javaVersion } from "./java_version.ts";
import { jvmRecipe } from "./jvm.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { matched, withoutComments } from "../../text/source_text.ts";

const FRAMEWORKS: readonly (readonly [mark: string, name: string])[] = [
  ["luminus", "luminus"],
  ["io.pedestal/", "pedestal"],
  ["metosin/reitit", "reitit"],
  ["compojure", "compojure"],
  ["http-kit", "http-kit"],
  ["ring/ring", "ring"],
];
const NO_START =
  "Cannot tell how to start the project: deps.edn has neither a :build nor a :run alias. Add one of them, or set the start command";

/** Clojure programs that Leiningen or the Clojure tools build. */
export const clojure: Ecosystem = {
  manifests: ["project.clj", "deps.edn", "build.clj", ...JAVA_VERSION_FILES],
  detect(folder) {
    const file = folder.first(["project.clj", "deps.edn"]);
    if (file === undefined) return undefined;
    const text = withoutComments(folder.text(file) ?? "", ";");
    const { version, warnings } = javaVersion(folder, { from: file, wanted: undefined });
    const found: Finding = {
      language: "clojure",
      languageVersion: version,
      framework: FRAMEWORKS.find(([mark]) => text.includes(mark))?.[1] ?? null,
      packageManager: file === "project.clj" ? "leiningen" : "clojure-cli",
      warnings,
    };
    return file === "project.clj" ? leiningen(folder, text, version, found) : commandLine(folder, text, version, found);
  },
};

function leiningen(folder: ProjectFolder, text: string, version: string, found: Finding): Finding {
  const named = matched(text, /:uberjar-name[ \t]+"([A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\.jar)"/);
  // The folder depends on :target-path, which templates set.
  const nested = /:target-path[ \t]+"target\/%s/.test(text) ? "target/uberjar" : "target";
  const jar = named === undefined ? `${nested}/*-standalone.jar` : `${nested}/${named}`;
  return {
    ...found,
    installCommand: "lein deps",
    buildCommand: "lein uberjar",
    startCommand: `java -jar ${jar}`,
    port: 3000,
    image: jvmRecipe(`clojure:temurin-${version}-lein`, version, {
      manifests: ["project.clj", "profiles.clj"].filter((path) => folder.has(path)),
      caches: ["/root/.m2"],
      keep: [named === undefined ? nested : jar],
    }),
  };
}

function commandLine(folder: ProjectFolder, text: string, version: string, found: Finding): Finding {
  const manifests = ["deps.edn"];
  const buildImage = `clojure:temurin-${version}-tools-deps`;
  const installed: Finding = { ...found, installCommand: "clojure -P" };
  if (folder.has("build.clj") && /:build(?=[ \t\r\n{])/.test(text)) {
    const build = withoutComments(folder.text("build.clj") ?? "", ";");
    const task = matched(build, /\(defn[ \t]+(uberjar|uber|ci|jar)(?=[ \t\r\n])/) ?? "uber";
    return {
      ...installed,
      buildCommand: `clojure -T:build ${task}`,
      startCommand: "java -jar target/*.jar",
      port: 3000,
      image: jvmRecipe(buildImage, version, { manifests, caches: ["/root/.m2", "/root/.gitlibs"], keep: ["target"] }),
    };
  }
  const alias = [":run", ":start", ":server", ":run-m"].find((name) => text.includes(name));
  if (alias === undefined) return warned(installed, NO_START);
  const way = /:exec-fn(?=[ \t\r\n])/.test(text) && !/:main-opts(?=[ \t\r\n])/.test(text) ? "-X" : "-M";
  // Running from sources needs the libraries in the project's folder, wherever the home of the user is.
  const tool = `clojure -Sdeps '{:mvn/local-repo ".m2"}'`;
  return {
    ...installed,
    installCommand: `${tool} -P ${way}${alias}`,
    startCommand: `${tool} ${way}${alias}`,
    port: 3000,
    image: jvmRecipe(buildImage, version, { runImage: buildImage, manifests, keep: ["."] }),
  };
}
