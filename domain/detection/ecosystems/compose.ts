import { isServiceName } from "../../services/service_name.ts";
import type { DetectedService } from "../detection.ts";
import { type Finding, type Refinement, warned } from "../ecosystem.ts";
import { type JsonObject, memberOf, objectOf, textOf } from "../text/json_text.ts";
import type { ProjectFolder } from "../project_folder.ts";

const NAMES = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
const MAX_SERVICES = 100;
const PLAIN_PATH = /^[A-Za-z0-9_@-][A-Za-z0-9_@./-]{0,200}$/;
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,200}$/;

/** A service and its warnings. */
interface ComposeService {
  readonly service: DetectedService;
  readonly builds: boolean;
  readonly profiled: boolean;
  readonly warnings: readonly string[];
}

/** Takes the services from a compose file, unless it only provides what the project needs during development. */
export const compose: Refinement = {
  manifests: NAMES,
  refine(folder, found) {
    const composeFile = folder.first(NAMES);
    if (composeFile === undefined) return found;
    const file = objectOf(folder.data(composeFile));
    const all = Object.entries(memberOf(file, "services") ?? {}).slice(0, MAX_SERVICES);
    const described = all.flatMap(([name, value]) => serviceOf(folder, name, objectOf(value) ?? {}) ?? []);
    const includes = file !== undefined && Object.hasOwn(file, "include");
    if (described.length === 0 && includes) return withIncluded(found, composeFile);
    // The full compose parser reports what is wrong; until then it must not be deployed as something else.
    if (described.length === 0) return { ...found, composeFile, projectType: "services", services: [], warnings: [] };
    return withServices({ ...found, composeFile }, { composeFile, described, alone: found === undefined });
  },
};

/** Handles a file whose services are all in included files, which are read only once they are certainly meant. */
function withIncluded(found: Finding | undefined, composeFile: string): Finding {
  if (found === undefined) return { composeFile, projectType: "services" };
  return warned(
    { ...found, composeFile },
    `Cannot tell whether what ${composeFile} includes should run too. Choose the project type "services" for that`,
  );
}

function withServices(
  found: Finding,
  {
    composeFile,
    described,
    alone,
  }: {
    readonly composeFile: string;
    readonly described: readonly ComposeService[];
    readonly alone: boolean;
  },
): Finding {
  // Services with profiles are started only when one of these is named.
  const usual = described.filter(({ profiled }) => !profiled);
  const started = usual.length > 0 ? usual : described;
  const names = (some: readonly ComposeService[]) => some.map(({ service }) => service.name).join(", ");
  if (!alone && !started.some(({ builds }) => builds)) {
    return warned(
      found,
      `Cannot tell whether ${names(started)} of ${composeFile} should run too: none is built from this project. Choose the project type "services" for that`,
    );
  }
  const left = described.filter((one) => !started.includes(one));
  const aside =
    left.length === 0
      ? []
      : [`Cannot start ${names(left)} with the others: ${composeFile} gives them profiles. Remove these to start them`];
  const services = started.map(({ service }) => service);
  // Each service is built in its own way, so warnings about the project around them do not apply.
  const serviceWarnings = started.flatMap(({ warnings }) => warnings);
  return warned({ ...found, projectType: "services", services, warnings: [] }, ...serviceWarnings, ...aside);
}

function serviceOf(folder: ProjectFolder, name: string, written: JsonObject): ComposeService | undefined {
  if (!isServiceName(name)) return undefined;
  const build = written["build"];
  const builds = typeof build === "string" || objectOf(build) !== undefined;
  const context =
    typeof build === "string" ? build : (textOf(objectOf(build), "context") ?? (builds ? "." : undefined));
  const place = context === undefined ? undefined : placeOf(folder, name, context);
  const dockerfile = insidePath(textOf(objectOf(build), "dockerfile"));
  const image = textOf(written, "image")?.trim();
  const port = portOf(written["ports"]) ?? portOf(written["expose"]);
  const service: DetectedService = {
    name,
    rootDirectory: place?.path ?? null,
    ...(dockerfile !== undefined && { dockerfile }),
    ...(image !== undefined && !builds && IMAGE.test(image) && { image }),
    ...(port !== undefined && { port }),
  };
  const extending = Object.hasOwn(written, "extends");
  const empty = !builds && image === undefined && !extending;
  const warnings = [
    ...(place?.warnings ?? []),
    ...(empty ? [`Cannot start ${name}: it has neither an image nor a build. Add one of them`] : []),
  ];
  const profiles = written["profiles"];
  return { service, builds, profiled: Array.isArray(profiles) && profiles.length > 0, warnings };
}

/** Where a service is built; `null` for the whole project. */
function placeOf(
  folder: ProjectFolder,
  name: string,
  context: string,
): { readonly path: string | null; readonly warnings: readonly string[] } {
  const trimmed = context.trim().replace(/^(?:\.\/+)+/, "");
  if (trimmed === "" || trimmed === ".") return { path: null, warnings: [] };
  const path = insidePath(trimmed);
  if (path === undefined) {
    const reason = "its build context is not a folder of this project";
    return { path: null, warnings: [`Cannot build ${name}: ${reason}. Put its files into the project`] };
  }
  if (folder.hasFolder(path)) return { path, warnings: [] };
  return { path, warnings: [`Cannot build ${name}: there is no folder ${path}. Correct its build context`] };
}

/** Normalizes a path; `undefined` when it leaves the project. */
function insidePath(written: string | undefined): string | undefined {
  if (written === undefined || written.length > 300) return undefined;
  const parts = written
    .trim()
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const path = parts.join("/");
  return !written.startsWith("/") && PLAIN_PATH.test(path) && !parts.includes("..") ? path : undefined;
}

/** The first port inside the container, in any notation of compose files. */
function portOf(written: unknown): number | undefined {
  const list: unknown[] = Array.isArray(written) ? written.slice(0, 20) : [];
  for (const entry of list) {
    const target = objectOf(entry)?.["target"] ?? entry;
    const text = typeof target === "number" || typeof target === "string" ? String(target).slice(0, 100) : "";
    const port = Number(/(?:^|[:}])(\d{1,5})(?:-\d{1,5})?(?:\/tcp)?$/.exec(text)?.[1]);
    if (port > 0 && port <= 65_535) return port;
  }
  return undefined;
}
