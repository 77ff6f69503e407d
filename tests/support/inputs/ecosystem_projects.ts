import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writtenProject } from "./written_project.ts";

/** A small server of one language that needs no packages from elsewhere. */
export interface EcosystemProject {
  readonly name: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What it answers at `/`. */
  readonly answer: string;
}

const FOLDER = join(import.meta.dirname, "../../images/projects");

/** Every project under `tests/images/projects`, by the name of its language. */
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
