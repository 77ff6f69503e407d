import type { DetectedService } from "./detection.ts";
import { type Refinement, warned } from "./ecosystem.ts";

const NAMES = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
// Bounds on the work that a hostile file can make.
const MAX_LINE = 1_000;
const MAX_LINES = 20_000;
const MAX_SERVICES = 100;
const KEY = /^( *)(["']?)([A-Za-z0-9._-]+)\2\s*:(?:\s+(.*))?$/;

interface ComposeService extends DetectedService {
  readonly builds: boolean;
}

/** Takes the services from a compose file, unless it only brings what the project needs while it is developed. */
export const compose: Refinement = {
  manifests: NAMES,
  refine(folder, found) {
    const composeFile = folder.first(NAMES);
    if (composeFile === undefined) return found;
    const described = servicesOf(folder.text(composeFile) ?? "");
    if (described.length === 0) {
      return warned({ ...found, composeFile }, `Cannot find services in ${composeFile}: it is not read any further`);
    }
    const services = described.map(({ name, rootDirectory }) => ({ name, rootDirectory }));
    if (found === undefined || described.some(({ builds }) => builds)) {
      return { ...found, projectType: "services", composeFile, services };
    }
    const names = services.map(({ name }) => name).join(", ");
    return warned(
      { ...found, composeFile },
      `Cannot tell whether ${names} of ${composeFile} should run too: none is built from this project. Choose the project type "services" for that`,
    );
  },
};

/** The names of the services and where they are built, read from the lines alone: no anchor or include is followed. */
function servicesOf(text: string): ComposeService[] {
  const written = text.split(/\r?\n/).filter((line) => line.length < MAX_LINE && !/^\s*(?:#|$)/.test(line));
  const lines = blockOf(written.slice(0, MAX_LINES), "services");
  const depth = indentation(lines[0] ?? "");
  const names = lines.flatMap((line) => (indentation(line) === depth ? (KEY.exec(line)?.[3] ?? []) : []));
  return names.slice(0, MAX_SERVICES).map((name) => {
    const service = blockOf(lines, name);
    const build = valueOf(service, "build");
    const context = build === "" ? valueOf(blockOf(service, "build"), "context") : build;
    return { name, rootDirectory: folderOf(context), builds: build !== undefined };
  });
}

/** The deeper lines below a key that stands at the depth of the first line. */
function blockOf(lines: readonly string[], key: string): string[] {
  const depth = indentation(lines[0] ?? "");
  const start = lines.findIndex((line) => indentation(line) === depth && KEY.exec(line)?.[3] === key);
  if (start === -1) return [];
  const end = lines.findIndex((line, index) => index > start && indentation(line) <= depth);
  return lines.slice(start + 1, end === -1 ? lines.length : end);
}

function valueOf(lines: readonly string[], key: string): string | undefined {
  const depth = indentation(lines[0] ?? "");
  const line = lines.find((candidate) => indentation(candidate) === depth && KEY.exec(candidate)?.[3] === key);
  if (line === undefined) return undefined;
  return (KEY.exec(line)?.[4] ?? "")
    .replace(/\s+#.*$/, "")
    .replace(/^(["'])(.*)\1$/, "$2")
    .trim();
}

function folderOf(context: string | undefined): string | null {
  const path = context?.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "") ?? "";
  const plain = /^[A-Za-z0-9_@-][A-Za-z0-9_@./-]*$/.test(path) && !path.split("/").includes("..");
  return plain ? path : null;
}

function indentation(line: string): number {
  return line.length - line.trimStart().length;
}
