import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writtenProject } from "./written_project.ts";

/** A small server in one language, without external packages. */
export interface EcosystemProject {
  readonly name: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Its response body at `/`. */
  readonly answer: string;
}

const FOLDER = join(import.meta.dirname, "../../images/projects");

/** All projects in `tests/images/projects`, named after their language. */
export function ecosystemProjects(): readonly EcosystemProject[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".txt"));
  return names.toSorted().map((file) => {
    const name = file.slice(0, -".txt".length);
    return {
      name,
      files: writtenProject(readFileSync(join(FOLDER, file), "utf8")),
      answer: `hello from ${name}\n`,
    };
  });
}
