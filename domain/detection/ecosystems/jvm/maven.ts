import { type Ecosystem, type Finding, warned } from "../../ecosystem.ts";
import { hasProgram, mainClassByName } from "./java_main.ts";
import { JAVA_VERSION_FILES, javaVersion } from "./java_version.ts";
import { memberOf } from "../../text/json_text.ts";
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
import { type ChosenPart, likeliestPart } from "./part.ts";
import { JVM_SETTINGS, settingsVariables } from "./settings.ts";
import { MavenPom } from "./maven_pom.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { property } from "../../text/source_text.ts";
import { textsOf, valuesIn } from "../../text/xml_elements.ts";

const WRAPPER = ".mvn/wrapper/maven-wrapper.properties";
const INSTALL_FILES = [
  "pom.xml",
  "mvnw",
  WRAPPER,
  ".mvn/wrapper/maven-wrapper.jar",
  ".mvn/maven.config",
  ".mvn/jvm.config",
  ".mvn/extensions.xml",
];
const MAX_MODULES = 100;
const UNREADABLE = "Cannot read pom.xml: it is not XML with a project in it. Correct it, or set the commands yourself";

/** Programs in Java or Kotlin that Maven builds. */
export const maven: Ecosystem = {
  manifests: ["pom.xml", "maven-wrapper.properties", ...JVM_SETTINGS, ...JAVA_VERSION_FILES],
  detect(folder) {
    if (!folder.has("pom.xml")) return undefined;
    const pom = MavenPom.read(folder);
    if (pom === undefined) return { language: "java", packageManager: "maven", warnings: [UNREADABLE], broken: true };
    const outer = outerBuild(folder, (above) => MavenPom.read(above)?.isAggregator() ?? false);
    const whole = outer && MavenPom.read(outer.folder);
    const inner = whole && allModules(outer.folder, whole, whole).find(({ path }) => path === outer.path);
    if (outer === undefined || whole === undefined || inner === undefined) return describe(folder, pom);
    return seenFromInside(describe(outer.folder, whole, inner), outer);
  },
};

/** Describes a build, or only the given one of its modules. */
function describe(folder: ProjectFolder, root: MavenPom, only?: MavenPom): Finding {
  const { chosen, warnings } = only === undefined ? moduleOf(folder, root) : { chosen: only, warnings: [] };
  const pom = chosen ?? root;
  const framework = jvmFramework(pom.dependencies().join("\n"));
  const place = pom.path === "" ? folder : folder.at(pom.path);
  const version = javaVersion(folder, { from: "pom.xml", wanted: wantedJava(pom) });
  const wrapper = folder.has("mvnw") && folder.has(WRAPPER);
  const tool = wrapper ? "sh ./mvnw -B" : "mvn -B";
  const single = !root.isAggregator();
  const found: Finding = {
    language: place.hasFolder("src/main/kotlin") && !place.hasFolder("src/main/java") ? "kotlin" : "java",
    languageVersion: version.version,
    framework: framework?.name ?? null,
    packageManager: "maven",
    packageManagerVersion: wrapper ? (wrappedVersion(folder) ?? null) : null,
    installCommand: single ? `${tool} dependency:go-offline` : null,
    warnings: [...version.warnings, ...warnings],
  };
  const made = chosen === undefined ? NOT_STARTED : programOf(place, pom, framework);
  if ("warning" in made) return warned(found, made.warning);
  const program = below(pom.path, made);
  const part = pom.path === "" ? "" : ` -pl ${pom.path} -am`;
  return {
    ...found,
    buildCommand: `${tool} -DskipTests${part} package${"classPath" in made ? COPY_DEPENDENCIES : ""}`,
    startCommand: jvmStart(program, framework),
    port: framework?.port ?? 8080,
    env: settingsVariables(place),
    image: jvmRecipe(`maven:3-eclipse-temurin-${version.version}`, version.version, {
      manifests: single ? INSTALL_FILES.filter((path) => folder.has(path)) : [],
      caches: ["/root/.m2"],
      keep: program.keep,
    }),
  };
}

const COPY_DEPENDENCIES = " dependency:copy-dependencies -DincludeScope=runtime";
const NOT_STARTED = {
  warning:
    "Cannot tell how to start the project: no module of pom.xml makes a program. Add spring-boot-maven-plugin or maven-shade-plugin to one, or set the start command",
};

/** Picks the pom to start: the root itself, or its module that builds a program. */
function moduleOf(folder: ProjectFolder, root: MavenPom): ChosenPart<MavenPom> {
  if (!root.isAggregator()) return root.packaging() === "pom" ? { warnings: [] } : { chosen: root, warnings: [] };
  const modules = allModules(folder, root, root);
  const declared = modules.filter((pom) => PROGRAM_PLUGINS.some((plugin) => pom.declaresPlugin(plugin)));
  const programs = declared.length > 0 ? declared : modules.filter((pom) => hasProgram(folder.at(pom.path)));
  return likeliestPart(programs, "modules");
}

const PROGRAM_PLUGINS = [
  "spring-boot-maven-plugin",
  "quarkus-maven-plugin",
  "maven-shade-plugin",
  "micronaut-maven-plugin",
  "maven-assembly-plugin",
  "exec-maven-plugin",
];

function allModules(folder: ProjectFolder, pom: MavenPom, parent: MavenPom, depth = 0): MavenPom[] {
  if (depth > 2) return [];
  const found = pom
    .modules()
    .slice(0, MAX_MODULES)
    .flatMap((name) => {
      const module = MavenPom.read(folder, pom.path === "" ? name : `${pom.path}/${name}`, parent);
      return module === undefined ? [] : [module, ...allModules(folder, module, module, depth + 1)];
    });
  return found.filter((module) => module.packaging() !== "pom").slice(0, MAX_MODULES);
}

/** What the build of this pom produces to be started, by its plugins. */
function programOf(
  folder: ProjectFolder,
  pom: MavenPom,
  framework: JvmFramework | undefined,
): JvmProgram | { readonly warning: string } {
  const war = pom.packaging() === "war";
  const boot = pom.plugin("spring-boot-maven-plugin");
  if (framework?.name === "quarkus") return quarkus(folder, pom);
  if (boot !== undefined) {
    const classifier = textsOf(memberOf(boot, "configuration"), "classifier")[0];
    return jar(pom, `${classifier === undefined ? "" : `-${classifier}`}.${war ? "war" : "jar"}`);
  }
  if (war) {
    return {
      warning:
        "Cannot start a WAR by itself: it needs a servlet container. Add a Dockerfile with one, or package the project as a jar that starts",
    };
  }
  if (framework?.name === "micronaut" || pom.plugin("maven-shade-plugin") !== undefined) return jar(pom, ".jar");
  const assembly = pom.plugin("maven-assembly-plugin");
  const made = valuesIn(assembly);
  if (made.includes("descriptorRef=jar-with-dependencies")) {
    const bare = made.includes("appendAssemblyId=false");
    return jar(pom, bare ? ".jar" : "-jar-with-dependencies.jar");
  }
  const mainClass = declaredMain(pom) ?? mainClassByName(folder);
  if (mainClass === undefined) return NO_MAIN;
  return { mainClass, classPath: `target/classes:target/dependency/*`, keep: ["target"] };
}

const NO_MAIN = {
  warning:
    "Cannot tell how to start the project: pom.xml names no main class and no plugin that makes a jar that starts. Add spring-boot-maven-plugin or maven-shade-plugin, or set the start command",
};

function quarkus(folder: ProjectFolder, pom: MavenPom): JvmProgram {
  const settings = folder.text("src/main/resources/application.properties") ?? "";
  const type =
    property(settings, "quarkus.package.jar.type") ??
    property(settings, "quarkus.package.type") ??
    pom.property("quarkus.package.jar.type") ??
    pom.property("quarkus.package.type");
  if (type === "uber-jar") return jar(pom, "-runner.jar");
  return { jar: "target/quarkus-app/quarkus-run.jar", keep: ["target/quarkus-app"] };
}

/** A jar with the pom's final name, or any jar when that name is unknown. */
function jar(pom: MavenPom, ending: string): JvmProgram {
  const name = pom.finalName();
  const plain = /^[A-Za-z0-9.-]{1,60}$/.test(ending) ? ending : ".jar";
  if (name === undefined) return { jar: `target/*${plain}`, keep: ["target"] };
  return { jar: `target/${name}${plain}`, keep: [`target/${name}${plain}`] };
}

/** The main class that the configuration of a plugin or a property declares. */
function declaredMain(pom: MavenPom): string | undefined {
  const executed = memberOf(pom.plugin("exec-maven-plugin"), "configuration");
  const manifest = memberOf(memberOf(memberOf(pom.plugin("maven-jar-plugin"), "configuration"), "archive"), "manifest");
  const named = [
    ...textsOf(executed, "mainClass"),
    ...textsOf(manifest, "mainClass"),
    pom.property("exec.mainClass"),
    pom.property("main.class"),
    pom.property("mainClass"),
    pom.property("start-class"),
  ];
  return named.map((name) => pom.resolved(name)).find((name) => name !== undefined && PLAIN_CLASS.test(name));
}

/** The Java version that it is compiled for, in the compiler plugin's own precedence. */
function wantedJava(pom: MavenPom): string | undefined {
  const compiler = memberOf(pom.plugin("maven-compiler-plugin"), "configuration");
  const named = [
    ...textsOf(compiler, "release"),
    pom.property("maven.compiler.release"),
    ...textsOf(compiler, "target"),
    pom.property("maven.compiler.target"),
    pom.property("java.version"),
    ...textsOf(compiler, "source"),
    pom.property("maven.compiler.source"),
    pom.property("kotlin.compiler.jvmTarget"),
  ];
  return named.map((version) => pom.resolved(version)).find((version) => version !== undefined);
}

function below(path: string, program: JvmProgram): JvmProgram {
  if (path === "") return program;
  const put = (one: string) => `${path}/${one}`;
  const keep = program.keep.map(put);
  if ("jar" in program) return { jar: put(program.jar), keep };
  if ("script" in program) return { script: put(program.script), keep };
  return { ...program, classPath: program.classPath.split(":").map(put).join(":"), keep };
}

function wrappedVersion(folder: ProjectFolder): string | undefined {
  const url = property(folder.text(WRAPPER) ?? "", "distributionUrl") ?? "";
  return /apache-maven-(\d{1,3}(?:\.\d{1,3}){1,2})-bin/.exec(url.slice(0, 500))?.[1];
}
