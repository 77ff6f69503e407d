import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";
import { detectFiles } from "../../application/projects/uploads/detect_files.ts";
import type { Detection } from "../../domain/detection/detection.ts";
import { writtenProject } from "../support/inputs/written_project.ts";

const FOLDER = join(import.meta.dirname, "detection_cases");
const UPDATES = process.env["UPDATE_DETECTION"] === "1";

/** The detection of a case's files, as a folder scan returns it. */
function found(files: ReadonlyMap<string, Uint8Array>): Promise<Detection> {
  return detectFiles(new LibraryManifestParser(), {
    async *entries() {
      const paths = [...files.keys()].toSorted();
      for (const path of paths) yield { path, type: "file" as const, size: files.get(path)!.length };
    },
    read: async (path, { maxBytes }) => {
      const bytes = files.get(path);
      return bytes && bytes.length <= maxBytes ? bytes : undefined;
    },
  });
}

/** Omits empty and default values. */
function comparable(detection: object): object {
  const fields = Object.entries(detection).filter(
    ([key, value]) => value !== null && !isEmpty(value) && !(key === "projectType" && value === "app"),
  );
  return Object.fromEntries(fields.map(([key, value]) => [key, key === "image" ? comparable(value as object) : value]));
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

describe("detect() recognises", () => {
  const cases = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());

  test("at least 120 projects", () => expect(cases.length).toBeGreaterThanOrEqual(120));

  for (const { name } of cases.toSorted((a, b) => a.name.localeCompare(b.name))) {
    test(name, async () => {
      const result = comparable(await found(writtenProject(await Bun.file(join(FOLDER, name, "project.txt")).text())));
      const file = Bun.file(join(FOLDER, name, "expected.json"));
      if (UPDATES) await Bun.write(file, `${JSON.stringify(result, null, 2)}\n`);
      expect(result).toEqual(await file.json());
    });
  }
});
