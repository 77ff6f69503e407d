import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ProjectFolder } from "../../domain/detection/project_folder.ts";

function folderOf(paths: readonly string[], path = ""): ProjectFolder {
  return new ProjectFolder({ paths: paths.toSorted(), text: () => undefined, data: () => undefined }, path);
}

/** Names that sort around the path separator. */
const part = fc.constantFrom("a", "b", "a-b", "a.b", "a0", "a b", "é", "z", "A", "-", "0");
const tree = fc
  .uniqueArray(
    fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
    { maxLength: 60 },
  )
  // No path is both a file and a folder.
  .map((paths) => paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`))));

describe("ProjectFolder", () => {
  test("finds the same files, names and folders as a scan of every path", () => {
    fc.assert(
      fc.property(tree, fc.constantFrom("", "a", "a-b", "a/b", "a b", "z", "nothing"), (paths, place) => {
        const folder = folderOf(paths, place);
        const prefix = place === "" ? "" : `${place}/`;
        const below = paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
        const inner = below.filter((path) => path.includes("/")).map((path) => path.slice(0, path.indexOf("/")));
        expect(folder.files()).toEqual(below.toSorted());
        expect(folder.names()).toEqual(below.filter((path) => !path.includes("/")).toSorted());
        expect(folder.folders()).toEqual([...new Set(inner)].toSorted());
        for (const name of ["a", "b", "a-b", "é"]) expect(folder.hasFolder(name)).toBe(inner.includes(name));
      }),
    );
  });

  test("outward() returns the folders from a folder up to the root", () => {
    const folder = folderOf(["a/b/c/file"], "a/b");
    expect(folder.outward().map(({ path }) => path)).toEqual(["a/b", "a", ""]);
    expect(
      folderOf([])
        .outward()
        .map(({ path }) => path),
    ).toEqual([""]);
  });

  test("commandPath() accepts plain paths of existing files only", () => {
    const folder = folderOf(["src/main.js", "x; evil", "-rf"]);
    expect(folder.commandPath("./src/main.js")).toBe("src/main.js");
    for (const wrong of ["x; evil", "-rf", "src", "../src/main.js", "", 3, null, undefined]) {
      expect(folder.commandPath(wrong)).toBeUndefined();
    }
  });

  test("handles a hundred thousand files from every folder", () => {
    const paths = Array.from({ length: 100_000 }, (_, at) => `packages/p${at % 1_000}/src/${at}.ts`);
    const whole = folderOf(paths);
    const folders = whole.at("packages").folders();
    expect(folders).toHaveLength(1_000);
    // Checking every path for each folder would take a hundred million comparisons.
    expect(folders.flatMap((name) => whole.at(`packages/${name}`).folders())).toHaveLength(1_000);
  });
});
