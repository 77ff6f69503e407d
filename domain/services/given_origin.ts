import { invalidField } from "../failure.ts";
import type { ServiceBuild, ServiceDefinition } from "./service_definition.ts";
import { imageReference } from "../image/image_reference.ts";
import { normalPath } from "./normal_path.ts";
import type { ServiceApp, ServiceDockerfile, ServiceOrigin } from "./service_spec.ts";

const INSIDE = "give a path inside the project";
/** Fields that only apply to an app: how it is detected, built and started. */
const APP_FIELDS = [
  "framework",
  "packageManager",
  "installCommand",
  "buildCommand",
  "startCommand",
  "outputDirectory",
] as const;

/**
 * Returns what a defined service is built from. A build takes precedence over an image, whose name then only names the
 * result; with neither it is an app of the source. A build folder with app commands but no Dockerfile settings is an
 * app too, because the commands already define its build.
 */
export function givenOrigin(definition: ServiceDefinition, path: string): ServiceOrigin {
  const { image, pullPolicy = "missing" } = definition;
  const build = buildOf(definition);
  const appField = APP_FIELDS.find((field) => definition[field] !== undefined);
  if (build) {
    const bare = [build.dockerfile, build.target, build.args].every((part) => part === undefined);
    if (bare && appField) return appOf(definition, contextOf(definition, build, path), path);
    if (appField)
      throw invalidField(`${path}.${appField}`, "a Dockerfile says how it is built and started; leave this out");
    return dockerfileOf(build, definition, path);
  }
  if (image === undefined)
    return appOf(definition, folder(definition.rootDirectory ?? "", `${path}.rootDirectory`), path);
  if (!imageReference(image))
    throw invalidField(`${path}.image`, "give an image as registries name it, such as postgres:18");
  if (appField)
    throw invalidField(`${path}.${appField}`, "an image is used as it is and not built; leave out this or the image");
  return { kind: "image", reference: image, pull: pullPolicy };
}

function buildOf({ build, dockerfile, rootDirectory }: ServiceDefinition): ServiceBuild | undefined {
  if (build === undefined && dockerfile === undefined) return undefined;
  const said = typeof build === "string" ? { context: build } : (build ?? {});
  const context = said.context ?? rootDirectory;
  const named = said.dockerfile ?? dockerfile;
  return { ...said, ...(context !== undefined && { context }), ...(named !== undefined && { dockerfile: named }) };
}

function dockerfileOf(build: ServiceBuild, definition: ServiceDefinition, path: string): ServiceDockerfile {
  const { dockerfile, target, args = {} } = build;
  const named = typeof definition.build === "object" && definition.build.dockerfile !== undefined;
  const at = named ? `${path}.build.dockerfile` : `${path}.dockerfile`;
  if (target !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(target))
    throw invalidField(`${path}.build.target`, "give the name of a stage of the Dockerfile");
  const badArg = Object.keys(args).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (badArg !== undefined) throw invalidField(`${path}.build.args`, "names are letters, digits and underscores");
  return {
    kind: "dockerfile",
    context: contextOf(definition, build, path),
    dockerfile: dockerfile === undefined ? null : file(dockerfile, at),
    text: null,
    target: target ?? null,
    args,
  };
}

function contextOf({ build }: ServiceDefinition, { context = "" }: ServiceBuild, path: string): string {
  if (typeof build === "string") return folder(context, `${path}.build`);
  return folder(context, build?.context === undefined ? `${path}.rootDirectory` : `${path}.build.context`);
}

function appOf(definition: ServiceDefinition, rootDirectory: string, path: string): ServiceApp {
  const { framework, packageManager, installCommand, buildCommand, startCommand, outputDirectory } = definition;
  return {
    kind: "app",
    rootDirectory,
    framework: framework ?? null,
    packageManager: packageManager ?? null,
    installCommand: installCommand ?? null,
    buildCommand: buildCommand ?? null,
    startCommand: startCommand ?? null,
    outputDirectory: outputDirectory === undefined ? null : folder(outputDirectory, `${path}.outputDirectory`),
  };
}

function folder(text: string, at: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\/|^git@/i.test(text))
    throw invalidField(at, `what is built comes from the project itself; ${INSIDE}`);
  const path = text.startsWith("/") || text.includes("\0") ? undefined : normalPath(text);
  if (path === undefined || path.startsWith("-")) throw invalidField(at, `${INSIDE}, without ".." out of it`);
  return path;
}

function file(text: string, at: string): string {
  const path = folder(text, at);
  if (path === "") throw invalidField(at, "give the path of a Dockerfile");
  return path;
}
