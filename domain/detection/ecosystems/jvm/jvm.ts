import type { Finding } from "../../ecosystem.ts";
import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import type { ProjectFolder } from "../../project_folder.ts";

/** A JVM framework and how its port is set. */
export interface JvmFramework {
  readonly name: string;
  /** Texts of which at least one is in the build file of every project with it. */
  readonly marks: readonly string[];
  readonly port: number;
  /** JVM options. */
  readonly flags?: string;
  /** Program arguments. */
  readonly arguments?: string;
}

/** Known frameworks; the first one that a build file names wins. */
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

/** What a build produces to be started, and the paths to keep for it. */
export type JvmProgram =
  | { readonly jar: string; readonly keep: readonly string[] }
  | { readonly script: string; readonly keep: readonly string[] }
  | { readonly mainClass: string; readonly classPath: string; readonly keep: readonly string[] };

/** Names of classes and of files that are safe in a command. */
export const PLAIN_CLASS = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
export const PLAIN_FILE = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;

/** Returns the framework whose mark is in a build file. */
export function jvmFramework(text: string): JvmFramework | undefined {
  return JVM_FRAMEWORKS.find(({ marks }) => marks.some((mark) => text.includes(mark)));
}

/** Returns the command that starts a program. */
export function jvmStart(program: JvmProgram, framework: JvmFramework | undefined): string {
  const { flags, arguments: given } = framework ?? {};
  if ("jar" in program) return words("java", flags, "-jar", program.jar, given);
  if ("script" in program) return words(flags && `JAVA_OPTS="$JAVA_OPTS ${flags}"`, program.script, given);
  return words("java", flags, "-cp", `"${program.classPath}"`, program.mainClass, given);
}

function words(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(" ");
}

/** Creates a recipe with an image of the build tool, and a smaller one with only a JRE to run in. */
export function jvmRecipe(buildImage: string, version: string, more: Partial<ImageRecipe>): ImageRecipe {
  return recipe(buildImage, { runImage: `eclipse-temurin:${version}-jre`, ...more });
}

/** A build of several projects that contains the inspected folder. */
export interface OuterBuild {
  /** The root folder of the build. */
  readonly folder: ProjectFolder;
  /** The path of the inspected folder in it. */
  readonly path: string;
}

/** Converts the finding for one project of a larger build into commands that run in that project's own folder. */
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

/** Returns the outermost ancestor folder that matches, if the path from it is safe in a command. */
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
