import { describe, expect, test } from "bun:test";
import { chosenVersion } from "../../domain/detection/chosen_version.ts";
import { ProjectFolder } from "../../domain/detection/project_folder.ts";
import { toolVersion, versionFile } from "../../domain/detection/tool_versions.ts";
import { composerRange, isWanted, versionFor } from "../../domain/detection/version_range.ts";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";

const NODE = { lines: ["24", "22", "20", "18", "16"], preset: "22" };
const PYTHON = { lines: ["3.14", "3.13", "3.12", "3.11", "3.10", "3.9", "3.8"], preset: "3.13" };
const RUBY = { lines: ["3.4", "3.3", "3.2", "3.1"], preset: "3.4" };
const PHP = { lines: ["8.5", "8.4", "8.3", "8.2", "8.1", "8.0", "7.4"], preset: "8.4" };

function folderOf(files: Readonly<Record<string, string>>, path = ""): ProjectFolder {
  const parser = new LibraryManifestParser();
  const text = (name: string) => files[name];
  return new ProjectFolder(
    { paths: Object.keys(files).toSorted(), text, data: (name) => parser.parse(name, text(name) ?? "") },
    path,
  );
}

const tools = (text: string) => folderOf({ "mise.toml": text });
const choose = (...requirements: readonly (readonly [string, string | undefined])[]) =>
  chosenVersion(
    "Python",
    requirements.map(([from, wanted]) => ({ from, wanted })),
    PYTHON,
  );

describe("versionFor()", () => {
  const CASES = [
    ["22", NODE, "22"],
    ["v20.11.1", NODE, "20.11.1"],
    ["=18", NODE, "18"],
    ["==3.11.4", PYTHON, "3.11.4"],
    [" 3.12 ", PYTHON, "3.12"],
    [">=18", NODE, "22"],
    [">= 18.0.0", NODE, "22"],
    ["^20.9.0 || >=22", NODE, "22"],
    ["^18.0.0 || ^20.0.0", NODE, "20"],
    ["18.x", NODE, "18"],
    ["20.*", NODE, "20"],
    ["16 - 20", NODE, "20"],
    [">=16 <19", NODE, "18"],
    ["<22", NODE, "20"],
    ["<=20", NODE, "20"],
    [">22", NODE, "24"],
    ["*", NODE, "22"],
    ["x", NODE, "22"],
    ["", NODE, "22"],
    ["\n", NODE, "22"],
    ["~20.1", NODE, "20"],
    [">=24.0.0-rc.1", NODE, "24"],
    ["^3.11", PYTHON, "3.13"],
    ["~3.11", PYTHON, "3.11"],
    ["~=3.9", PYTHON, "3.13"],
    ["~=3.9.2", PYTHON, "3.9"],
    [">=3.8,<3.12", PYTHON, "3.11"],
    [">=3.8, !=3.9.7, <3.13", PYTHON, "3.12"],
    [">=3.10,!=3.13.*", PYTHON, "3.14"],
    [">=3.12,!=3.13.1", PYTHON, "3.13"],
    [">=3.8<4.0", PYTHON, "3.13"],
    ["==3.10.*", PYTHON, "3.10"],
    ["===3.10", PYTHON, "3.10"],
    ["3.13t", PYTHON, "3.13"],
    ["3.12-dev", PYTHON, "3.12"],
    [">=3.11.0,<3.12.3", PYTHON, "3.11"],
    [">=3.12.0,<3.12.3", PYTHON, "3.12"],
    ["~> 3.3.0", RUBY, "3.3"],
    ["~> 3.1", RUBY, "3.4"],
    [">= 3.1, < 3.4", RUBY, "3.3"],
    ["3.4.0-preview1", RUBY, "3.4"],
    [composerRange("^7.4|^8.0"), PHP, "8.4"],
    [composerRange("^7.4 || ~8.0.0"), PHP, "8.0"],
    [composerRange("~8.1"), PHP, "8.4"],
    [composerRange("~8.1.0"), PHP, "8.1"],
    [composerRange("~8.1.0 || ~8.2.0 || ~8.3.0"), PHP, "8.3"],
    [composerRange(">=7.4 <8.3"), PHP, "8.2"],
    [composerRange("8.1.*"), PHP, "8.1"],
    [composerRange("^8.2@dev"), PHP, "8.4"],
  ] as const;
  for (const [wanted, known, expected] of CASES) {
    test(`chooses ${expected} for ${JSON.stringify(wanted)}`, () => expect(versionFor(wanted, known)).toBe(expected));
  }

  for (const wanted of ["lts/iron", "latest", "pypy3.10", ">=99", "<1", "99999", ">=3 <2", "${X}", "22; rm -rf /"]) {
    test(`finds no version for "${wanted}"`, () => expect(versionFor(wanted, NODE)).toBeUndefined());
  }

  test("returns only digits and dots for any text", () => {
    for (const wanted of ["1.2.3; evil", "$(evil)", "22 evil", "22-$(evil)", "v22`evil`", "=".repeat(1_000_000)]) {
      expect(versionFor(wanted, NODE) ?? "22").toMatch(/^[\d.]+$/);
    }
  });
});

describe("isWanted()", () => {
  test("compares exact versions and ranges by their common parts", () => {
    expect(isWanted("3.12", "3.12.4")).toBeTrue();
    expect(isWanted("3.12.4", "3.12")).toBeTrue();
    expect(isWanted("3.12.4", "3.12.5")).toBeFalse();
    expect(isWanted("3.11", ">=3.12")).toBeFalse();
    expect(isWanted("3.11.2", ">=3.9,<4")).toBeTrue();
    expect(isWanted("nightly", ">=1")).toBeFalse();
  });
});

describe("toolVersion()", () => {
  test("reads every form that mise accepts", () => {
    expect(toolVersion(tools('[tools]\npython = "3.11"\n'), ["python"])).toBe("3.11");
    expect(toolVersion(tools("[tools]\nnode = 22\n"), ["node", "nodejs"])).toBe("22");
    expect(toolVersion(tools('[tools]\npython = ["3.12", "3.11"]\n'), ["python"])).toBe("3.12");
    expect(toolVersion(tools('[tools]\ngo = { version = "1.23" }\n'), ["go"])).toBe("1.23");
    expect(toolVersion(tools('[[tools.ruby]]\nversion = "3.3"\n'), ["ruby"])).toBe("3.3");
    expect(toolVersion(tools('[tools]\n"core:go" = "prefix:1.22"\n'), ["go"])).toBe("1.22");
    expect(toolVersion(tools("[tools]\npython = true\n"), ["python"])).toBeUndefined();
    expect(toolVersion(tools("tools = 3\n"), ["python"])).toBeUndefined();
    expect(toolVersion(tools("[tools"), ["python"])).toBeUndefined();
  });

  test("prefers mise to asdf, and a nearer file to one further out", () => {
    const asdf = "# tools\nnodejs 20.1.0 # old\r\npython 3.10.2 3.9.1\n";
    expect(toolVersion(folderOf({ ".tool-versions": asdf }), ["node", "nodejs"])).toBe("20.1.0");
    expect(toolVersion(folderOf({ ".tool-versions": asdf }), ["python"])).toBe("3.10.2");
    expect(toolVersion(folderOf({ ".tool-versions": asdf }), ["ruby"])).toBeUndefined();
    const both = { ".tool-versions": asdf, ".mise.toml": '[tools]\npython = "3.12"\n' };
    expect(toolVersion(folderOf(both), ["python"])).toBe("3.12");
    const nested = { ...both, "apps/api/.tool-versions": "python 3.8\n" };
    expect(toolVersion(folderOf(nested, "apps/api"), ["python"])).toBe("3.8");
    expect(toolVersion(folderOf(nested, "apps/web"), ["python"])).toBe("3.12");
  });
});

describe("versionFile()", () => {
  test("returns the first line that is neither empty nor a comment", () => {
    expect(versionFile(folderOf({ ".v": "\n  # pinned\r\n 3.11.4 \n3.10\n" }), ".v")).toBe("3.11.4");
    expect(versionFile(folderOf({ ".v": "\uFEFF20\n" }), ".v")).toBe("20");
    expect(versionFile(folderOf({ ".v": "# only\n" }), ".v")).toBeUndefined();
    expect(versionFile(folderOf({}), ".v")).toBeUndefined();
    expect(versionFile(folderOf({ ".v": "1".repeat(1_000_000) }), ".v")).toHaveLength(100);
  });
});

describe("chosenVersion()", () => {
  test("uses the first requirement, and the preset when there is none", () => {
    expect(choose(["a", undefined], ["b", "3.11.4"], ["c", ">=3.10"])).toEqual({ version: "3.11.4", warnings: [] });
    expect(choose(["a", undefined])).toEqual({ version: "3.13", warnings: [] });
    expect(choose(["a", "latest"], ["b", "system"])).toEqual({ version: "3.13", warnings: [] });
  });

  test("warns about an unknown version and uses the next requirement", () => {
    const { version, warnings } = choose([".python-version", "pypy3.10-7.3"], ["pyproject.toml", "<3.12"]);
    expect(version).toBe("3.11");
    expect(warnings).toEqual([expect.stringContaining("that .python-version asks for, pypy3.10-7.3: it is not known")]);
  });

  test("warns about requirements that contradict each other", () => {
    const { version, warnings } = choose([".python-version", "3.9"], ["pyproject.toml", ">=3.12"]);
    expect(version).toBe("3.9");
    expect(warnings).toEqual([expect.stringContaining(".python-version asks for 3.9, pyproject.toml for >=3.12")]);
  });

  test("shows no text with special characters", () => {
    expect(choose(["a", "<script>\u001b[31m"]).warnings.join()).not.toContain("script");
  });
});
