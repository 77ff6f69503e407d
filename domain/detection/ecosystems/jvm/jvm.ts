import type { Finding } from "../../ecosystem.ts";
import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import type { ProjectFolder } from "../../project_folder.ts";

/** A framework of the Java world and how it is told its port. */
export interface JvmFramework {
  readonly name: string;
  /** Texts of which one stands in the build file of every project with it. */
  readonly marks: readonly string[];
  readonly port: number;
  /** Settings of the virtual machine. */
  readonly flags?: string;
  /** Arguments of the program. */
  readonly arguments?: string;
}

/** Known frameworks; the first that a build file names counts. */
export const JVM_FRAMEWORKS: readonly JvmFramework[] = [
  { name: "spring-boot", marks: ["org.springframework.boot"], port: 8080, flags: "-Dserver.port=$PORT" },
  {
    name: "quarkus",
    marks: ["io.quarkus"],
    port: 8080,
    flags: "-Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT",
  },
  { name: "micronaut", marks: ["io.micronaut"], port: 8080, flags: "-Dmicronaut.server.port=$PORT" },
  { name: "ktor", marks: ["io.ktor"], port: 8080, arguments: "-host=0.0.0.0 -port=$PORT" },
  { name: "helidon", marks: ["io.helidon"], port: 8080, flags: "-Dserver.host=0.0.0.0 -Dserver.port=$PORT" },
  { name: "http4k", marks: ["org.http4k"], port: 8080 },
  { name: "vertx", marks: ["io.vertx"], port: 8080 },
  { name: "javalin", marks: ["io.javalin"], port: 7070 },
  { name: "spark", marks: ["com.sparkjava"], port: 4567 },
];

/** What a build leaves behind to be started, and the paths that are needed for it. */
export type JvmProgram =
  | { readonly jar: string; readonly keep: readonly string[] }
  | { readonly script: string; readonly keep: readonly string[] }
  | { readonly mainClass: string; readonly classPath: string; readonly keep: readonly string[] };

/** The names of classes and of files that may stand in a command. */
export const PLAIN_CLASS = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
export const PLAIN_FILE = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;

/** The framework whose mark stands in a build file. */
export function jvmFramework(text: string): JvmFramework | undefined {
  return JVM_FRAMEWORKS.find(({ marks }) => marks.some((mark) => text.includes(mark)));
}

/** The command that starts a program. */
export function jvmStart(program: JvmProgram, framework: JvmFramework | undefined): string {
  const { flags, arguments: given } = framework ?? {};
  if ("jar" in program) return words("java", flags, "-jar", program.jar, given);
  if ("script" in program) return words(flags && `JAVA_OPTS="$JAVA_OPTS ${flags}"`, program.script, given);
  return words("java", flags, "-cp", `"${program.classPath}"`, program.mainClass, given);
}

function words(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(" ");
}

/** An image in which a build tool makes the program, and a smaller one with Java alone in which it runs. */
export function jvmRecipe(buildImage: string, version: string, more: Partial<ImageRecipe>): ImageRecipe {
  return recipe(buildImage, { runImage: `eclipse-temurin:${version}-jre`, ...more });
}

/** A build of several projects in whose folders the one that is looked at lies. */
export interface OuterBuild {
  /** The folder of the whole build. */
  readonly folder: ProjectFolder;
  /** The path of the inner folder in it. */
  readonly path: string;
}

/** Turns what was found for one project of a larger build into what is run in that project's own folder. */
export function seenFromInside(found: Finding, { folder, path }: OuterBuild): Finding {
  const begins = new RegExp(`(^|[ ":])${path.replaceAll(".", "\\.")}/`, "g");
  const inRepository = (kept: string) => (folder.path === "" ? kept : `${folder.path}/${kept}`);
  const up = path.split("/").fill("..").join("/");
  const from = (command: string | null | undefined) => (command ? `cd ${up} && ${command}` : null);
  return {
    ...found,
    installCommand: from(found.installCommand),
    buildCommand: from(found.buildCommand),
    startCommand: found.startCommand?.replaceAll(begins, "$1") ?? null,
    image: found.image
      ? { ...found.image, manifests: [], keep: found.image.keep.map(inRepository), wholeRepository: true }
      : null,
  };
}

/** The outermost folder around this one that holds such a file, when the way to it is plain. */
export function outerBuild(
  folder: ProjectFolder,
  isBuildRoot: (outer: ProjectFolder) => boolean,
): OuterBuild | undefined {
  const outer = folder.outward().slice(1).findLast(isBuildRoot);
  if (outer === undefined) return undefined;
  const path = outer.path === "" ? folder.path : folder.path.slice(outer.path.length + 1);
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/.test(path)
    ? { folder: outer, path }
    : undefined;
}
