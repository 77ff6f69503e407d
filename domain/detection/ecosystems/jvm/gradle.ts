import { type Ecosystem, type Finding, warned } from "../../ecosystem.ts";
import { BUILD_FILES, gradleProjects, type GradleProject, rootName, SETTINGS_FILES } from "./gradle_build.ts";
import { JAVA_VERSION_FILES, type JavaDemand, javaVersion } from "./java_version.ts";
import {
  type JvmFramework,
  jvmFramework,
  type JvmProgram,
  jvmRecipe,
  jvmStart,
  outerBuild,
  PLAIN_CLASS,
  seenFromInside,
} from "./jvm.ts";
import { likeliestPart } from "./part.ts";
import { JVM_SETTINGS, settingsVariables } from "./settings.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { matched, property } from "../../text/source_text.ts";

const WRAPPER = "gradle/wrapper/gradle-wrapper.properties";
const SHADOW = ["com.github.johnrengelman.shadow", "com.gradleup.shadow"];
/** The plugin itself, or a convention plugin of the build that applies it, as `gradle init` names it. */
const APPLICATION = /^(?:application|io\.micronaut\.application|[\w.-]*application-conventions)$/;
/** The first Gradle version that runs on each Java line. */
const RUNS_ON: readonly (readonly [gradle: number, java: number])[] = [
  [9.1, 25],
  [8.5, 21],
  [7.3, 17],
  [5, 11],
  [0, 8],
];

/** Programs in Java, Kotlin or Groovy that Gradle builds. */
export const gradle: Ecosystem = {
  manifests: [
    ...BUILD_FILES,
    ...SETTINGS_FILES,
    "gradle-wrapper.properties",
    "libs.versions.toml",
    ...JVM_SETTINGS,
    ...JAVA_VERSION_FILES,
  ],
  detect(folder) {
    if (folder.first([...BUILD_FILES, ...SETTINGS_FILES]) === undefined) return undefined;
    const outer = outerBuild(folder, (above) => above.first(SETTINGS_FILES) !== undefined);
    const projects = gradleProjects(outer?.folder ?? folder);
    const inner = outer && projects.find(({ path }) => path === outer.path);
    if (outer === undefined || inner === undefined) return describe(folder, gradleProjects(folder));
    return seenFromInside(describe(outer.folder, projects, inner), outer);
  },
};

/** Describes a build, or only the given one of its projects. */
function describe(folder: ProjectFolder, projects: readonly GradleProject[], only?: GradleProject): Finding {
  const programs = (only === undefined ? projects : [only]).filter((project) => taskOf(project) !== undefined);
  const { chosen, warnings } = likeliestPart(programs, "projects");
  const wrapper = wrapperOf(folder);
  const version = javaVersion(folder, { ...wantedJava(projects, chosen), ...wrapper.limit });
  const place = chosen === undefined || chosen.path === "" ? folder : folder.at(chosen.path);
  const framework = jvmFramework(chosen === undefined ? "" : [chosen.text, ...chosen.plugins].join("\n"));
  const found: Finding = {
    language: languageOf(place, projects),
    languageVersion: version.version,
    framework: framework?.name ?? null,
    packageManager: "gradle",
    packageManagerVersion: wrapper.version ?? null,
    warnings: [...wrapper.warnings, ...version.warnings, ...warnings],
  };
  if (projects.some(({ plugins }) => plugins.includes("com.android.application"))) return warned(found, ANDROID);
  const made = chosen === undefined ? undefined : programOf(folder, chosen, framework);
  if (chosen === undefined || made === undefined) return warned(found, NO_START);
  const task = chosen.path === "" ? made.task : `:${chosen.path.replaceAll("/", ":")}:${made.task}`;
  return {
    ...found,
    buildCommand: `${wrapper.command} --no-daemon ${task}`,
    startCommand: jvmStart(made.program, framework),
    port: framework?.port ?? 8080,
    env: settingsVariables(place),
    image: jvmRecipe(wrapper.image(version.version), version.version, {
      environment: { GRADLE_USER_HOME: "/var/cache/gradle" },
      caches: ["/var/cache/gradle"],
      keep: made.program.keep,
    }),
  };
}

const ANDROID = "Cannot deploy an Android app: it runs on phones. Choose the folder of its server as root directory";
const NO_START =
  "Cannot tell how to start the project: its build applies neither the application plugin nor that of Spring Boot, Quarkus, Ktor or Shadow. Apply one of them, or set the start command";

/** The task that builds a program, by the plugins of the project. */
function taskOf({
  plugins,
}: GradleProject): "bootJar" | "build -x test" | "buildFatJar" | "shadowJar" | "installDist" | undefined {
  const has = (id: string) => plugins.includes(id);
  if (has("org.springframework.boot")) return "bootJar";
  if (has("io.quarkus")) return "build -x test";
  if (has("io.ktor.plugin")) return "buildFatJar";
  if (SHADOW.some(has)) return "shadowJar";
  const application = plugins.some((id) => APPLICATION.test(id));
  return application ? "installDist" : undefined;
}

function programOf(
  folder: ProjectFolder,
  project: GradleProject,
  framework: JvmFramework | undefined,
): { readonly task: string; readonly program: JvmProgram } | undefined {
  const task = taskOf(project);
  if (task === undefined) return undefined;
  const put = (path: string) => (project.path === "" ? path : `${project.path}/${path}`);
  const jar = (path: string, keep: string) => ({ task, program: { jar: put(path), keep: [put(keep)] } });
  switch (task) {
    case "bootJar":
      return jar("build/libs/*.jar", "build/libs");
    case "build -x test":
      return jar("build/quarkus-app/quarkus-run.jar", "build/quarkus-app");
    case "buildFatJar":
    case "shadowJar":
      return jar("build/libs/*-all.jar", "build/libs");
    default:
      return installed(folder, project, framework);
  }
}

/**
 * What `installDist` creates, in a folder named after the project. Without a known name, the main class is started from
 * whichever folder exists.
 */
function installed(
  folder: ProjectFolder,
  { path, text }: GradleProject,
  framework: JvmFramework | undefined,
): { readonly task: string; readonly program: JvmProgram } | undefined {
  const task = "installDist";
  const prefix = path === "" ? "" : `${path}/`;
  const named = matched(text, /\bapplicationName[ \t]*=[ \t]*["']([\w.-]{1,100})["']/);
  const name = path === "" ? rootName(folder) : path.split("/").at(-1);
  const keep = [`${prefix}build/install`];
  if (name !== undefined) {
    const script = `${prefix}build/install/${named ?? name}/bin/${named ?? name}`;
    return { task, program: { script, keep } };
  }
  const mainClass = matched(text, /\bmainClass(?:Name)?(?:\.set\(|[ \t]*=)[ \t]*["']([\w.$]{1,200})["']/);
  if (mainClass === undefined || !PLAIN_CLASS.test(mainClass) || framework?.name === "quarkus") return undefined;
  return { task, program: { mainClass, classPath: "$(echo build/install/*/lib)/*", keep } };
}

/** The Java version that the build requires: a toolchain is exact, a source level is a minimum. */
function wantedJava(projects: readonly GradleProject[], chosen: GradleProject | undefined): JavaDemand {
  const texts = [...(chosen === undefined ? [] : [chosen]), ...projects].map(({ text }) => text);
  const find = (...expressions: RegExp[]) => texts.map((text) => matched(text, ...expressions)).find(Boolean);
  const toolchain = find(
    /JavaLanguageVersion\.of[ \t]*\([ \t]*["']?(\d{1,2})\b/,
    /\bjvmToolchain[ \t]*\([ \t]*(\d{1,2})\b/,
  );
  const level = find(
    /\brelease(?:\.set\([ \t]*|[ \t]*=[ \t]*)(\d{1,2})\b/,
    /\btargetCompatibility[ \t]*=?[ \t]*(?:JavaVersion\.VERSION_)?["']?((?:1[._])?\d{1,2})\b/,
    /\bsourceCompatibility[ \t]*=?[ \t]*(?:JavaVersion\.VERSION_)?["']?((?:1[._])?\d{1,2})\b/,
    /\bJvmTarget\.JVM_((?:1_)?\d{1,2})\b/,
  );
  return { from: "the Gradle build", wanted: toolchain ?? level?.replace("_", "."), strict: toolchain !== undefined };
}

/** How to run Gradle: by the wrapper if it is complete, else by the installed Gradle. */
function wrapperOf(folder: ProjectFolder) {
  const url = property(folder.text(WRAPPER) ?? "", "distributionUrl") ?? "";
  const version = /gradle-(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)-(?:bin|all)\.zip/.exec(url.slice(0, 500))?.[1];
  const newest = version === undefined ? undefined : RUNS_ON.find(([from]) => reaches(version, from))?.[1];
  const whole = folder.has("gradlew") && folder.has("gradle/wrapper/gradle-wrapper.jar");
  const limit = newest === undefined ? {} : { newest };
  if (whole) {
    return {
      command: "sh ./gradlew",
      version,
      warnings: [],
      limit,
      image: (java: string) => `eclipse-temurin:${java}-jdk`,
    };
  }
  const broken = folder.has("gradlew") && !folder.has("gradle/wrapper/gradle-wrapper.jar");
  return {
    command: "gradle",
    version,
    warnings: broken ? [NO_WRAPPER] : [],
    limit,
    image: (java: string) => `gradle:${version?.split(".")[0] ?? (Number(java) >= 25 ? 9 : 8)}-jdk${java}`,
  };
}

const NO_WRAPPER =
  "Cannot run the Gradle wrapper: gradle/wrapper/gradle-wrapper.jar is missing, perhaps because .gitignore names *.jar. Gradle itself is used; add the file";

function reaches(version: string, from: number): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = String(from).split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

function languageOf(folder: ProjectFolder, projects: readonly GradleProject[]): string {
  if (folder.hasFolder("src/main/java")) return "java";
  if (folder.hasFolder("src/main/kotlin")) return "kotlin";
  if (folder.hasFolder("src/main/groovy")) return "groovy";
  const plugins = projects.flatMap((project) => project.plugins);
  return plugins.some((id) => id.startsWith("org.jetbrains.kotlin.")) ? "kotlin" : "java";
}
