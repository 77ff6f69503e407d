import type { DetectedVariable } from "../../detection.ts";
import { type Ecosystem, type Finding, warned } from "../../ecosystem.ts";
import { JAVA_VERSION_FILES, javaVersion } from "./java_version.ts";
import { jvmRecipe } from "./jvm.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { matched, property, withoutComments } from "../../text/source_text.ts";

const SBT = "1.11.7";
const FRAMEWORKS: readonly (readonly [mark: string, name: string])[] = [
  ["PlayScala", "play"],
  ["PlayJava", "play"],
  ["http4s", "http4s"],
  ["zio-http", "zio-http"],
  ["pekko-http", "pekko-http"],
  ["akka-http", "akka-http"],
  ["cask", "cask"],
  ["finatra", "finatra"],
  ["scalatra", "scalatra"],
];
const NO_PACKAGE =
  "Cannot tell how to start the project: it uses neither sbt-native-packager nor sbt-assembly, which make a program that starts. Add one of them to project/plugins.sbt, or set the commands";

/** Scala programs that sbt builds, including Play. */
export const scala: Ecosystem = {
  manifests: ["build.sbt", "build.properties", "plugins.sbt", "application.conf", ...JAVA_VERSION_FILES],
  detect(folder) {
    if (!folder.has("build.sbt")) return undefined;
    const build = withoutComments(folder.text("build.sbt") ?? "", "//");
    const { version, warnings } = javaVersion(folder, { from: "build.sbt", wanted: wantedJava(build) });
    const sbt = property(folder.text("project/build.properties") ?? "", "sbt.version");
    const framework = FRAMEWORKS.find(([mark]) => build.includes(mark))?.[1];
    const found: Finding = {
      language: build.includes("PlayJava") ? "java" : "scala",
      languageVersion: version,
      framework: framework ?? null,
      packageManager: "sbt",
      packageManagerVersion: sbt !== undefined && /^\d{1,2}(?:\.\d{1,3}){1,2}$/.test(sbt) ? sbt : null,
      warnings,
    };
    const made = programOf(folder, build, framework);
    if (made === undefined) return warned(found, NO_PACKAGE);
    return {
      ...found,
      installCommand: "sbt update",
      buildCommand: `sbt ${made.task}`,
      startCommand: made.start,
      port: framework === "play" ? 9000 : 8080,
      env: framework === "play" ? secrets(folder) : [],
      image: jvmRecipe(`eclipse-temurin:${version}-jdk`, version, {
        buildPackages: ["curl"],
        setup: [{ command: installSbt(), stages: ["build"] }],
        manifests: ["build.sbt", ...projectFiles(folder)],
        caches: ["/root/.cache/coursier", "/root/.ivy2", "/root/.sbt"],
        keep: [made.keep],
      }),
    };
  },
};

/** The files of the build definition, which are in the folder `project`. */
function projectFiles(folder: ProjectFolder): string[] {
  const names = folder
    .at("project")
    .names()
    .filter((name) => /^[\w-]+\.(?:properties|sbt|scala)$/.test(name));
  return names.map((name) => `project/${name}`);
}

/** Installs sbt; any version of its launcher runs the sbt version that a project names. */
function installSbt(): string {
  const url = `https://github.com/sbt/sbt/releases/download/v${SBT}/sbt-${SBT}.tgz`;
  return `curl -fsSL ${url} | tar -xz -C /usr/local --strip-components=1`;
}

function programOf(
  folder: ProjectFolder,
  build: string,
  framework: string | undefined,
): { readonly task: string; readonly start: string; readonly keep: string } | undefined {
  const play = framework === "play";
  const marked = /PlayScala|PlayJava|Java(?:Server)?AppPackaging/.exec(build)?.index;
  if (marked !== undefined) {
    const { project, path, name } = projectAround(build, marked);
    const stage = `${path}target/universal/stage`;
    // The folder also contains a script for Windows.
    const script = name === undefined ? `$(ls ${stage}/bin/* | grep -v '[.]bat$')` : `${stage}/bin/${name}`;
    // By default, Play writes its process ID into a file.
    const start = play ? `${script} -Dhttp.port=$PORT -Dpidfile.path=/dev/null${secretFlag(folder)}` : script;
    return { task: project === undefined ? "stage" : `${project}/stage`, start, keep: stage };
  }
  if (!folder.text("project/plugins.sbt")?.includes("sbt-assembly")) return undefined;
  const jar = matched(build, /\bassemblyJarName[ \t]*:=[ \t]*"([A-Za-z0-9_][A-Za-z0-9_.-]{0,80}\.jar)"/);
  return { task: "assembly", start: `java -jar target/scala-*/${jar ?? "*-assembly-*.jar"}`, keep: "target" };
}

/** The subproject that a position in the build file belongs to, or the whole build. */
function projectAround(build: string, place: number) {
  const block = build.slice(Math.max(0, build.lastIndexOf("lazy val ", place)), place + 2_000);
  const path = matched(block, /\bfile\([ \t]*"([A-Za-z0-9_][A-Za-z0-9_-]{0,50})"[ \t]*\)/);
  const project = path === undefined ? undefined : matched(block, /^lazy val ([A-Za-z]\w{0,50})\b/);
  const named = /\bname[ \t]*:=[ \t]*"{1,3}([A-Za-z0-9_][A-Za-z0-9_. -]{0,80})"/;
  const written = project === undefined ? matched(build, named) : (matched(block, named) ?? project);
  const name = written?.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return { project, name, path: project === undefined ? "" : `${path}/` };
}

function wantedJava(build: string): string | undefined {
  return matched(
    build,
    /"-(?:-release|release|java-output-version)"[ \t]*,[ \t]*"((?:1\.)?\d{1,2})"/,
    /"-release:(\d{1,2})"/,
  );
}

const SECRET = "APPLICATION_SECRET";

/** Play does not start in production without an application secret. */
function secrets(folder: ProjectFolder): DetectedVariable[] {
  return [{ key: namedSecret(folder) ?? SECRET, required: true }];
}

/** Passes the secret as a flag if the settings do not read it from a variable. */
function secretFlag(folder: ProjectFolder): string {
  return namedSecret(folder) === undefined ? ` -Dplay.http.secret.key="$${SECRET}"` : "";
}

function namedSecret(folder: ProjectFolder): string | undefined {
  const settings = withoutComments(folder.text("conf/application.conf") ?? "", "#");
  return matched(settings, /play\.http\.secret\.key[ \t]*=[ \t]*\$\{\??([A-Z][A-Z0-9_]{0,60})\}/);
}
