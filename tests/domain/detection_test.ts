import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";
import { detect, type Detection } from "../../domain/detection/detect.ts";
import { isManifest } from "../../domain/detection/manifests.ts";

const parser = new LibraryManifestParser();

type Files = Readonly<Record<string, string>>;

/** Runs `detect` on these files, with the contents of manifests only. */
function detected(files: Files): Detection {
  const paths = Object.keys(files).toSorted();
  const text = (path: string) => (isManifest(path) && Object.hasOwn(files, path) ? files[path] : undefined);
  return detect({ paths, text, data: (path) => parser.parse(path, text(path) ?? "") });
}

const json = (value: unknown) => JSON.stringify(value);
const pkg = (dependencies: readonly string[], rest: object = {}) =>
  json({ name: "app", dependencies: Object.fromEntries(dependencies.map((name) => [name, "1.0.0"])), ...rest });

describe("detect()", () => {
  test("warns only about a package.json that could not be loaded", () => {
    const found = detect({ paths: ["package.json"], text: () => undefined, data: () => undefined });
    expect(found.warnings).toEqual([expect.stringContaining("too large or gone")]);
  });

  test("puts no unsafe name of the project into a command", () => {
    const evil = "x.js; touch evil";
    const files = {
      "package.json": pkg(["express"], { main: evil, packageManager: "npm; evil@1" }),
      [evil]: "",
      "cmd/$(evil)/main.go": "",
      "go.mod": "",
      "a b; evil/wsgi.py": "",
    };
    expect(json(detected(files))).not.toContain("evil");
  });

  test("accepts a package.json with fields of any wrong type", () => {
    const wrong = fc.oneof(
      fc.constant(null),
      fc.integer(),
      fc.string(),
      fc.array(fc.string()),
      fc.dictionary(fc.string(), fc.anything()),
    );
    const manifest = fc.record(
      {
        name: wrong,
        scripts: wrong,
        dependencies: wrong,
        devDependencies: wrong,
        main: wrong,
        workspaces: wrong,
        packageManager: wrong,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(manifest, (value) => {
        const found = detected({ "package.json": JSON.stringify(value), "index.js": "" });
        expect(found.language).toBe("javascript");
      }),
    );
  });

  test("never throws for any manifests, and is deterministic", () => {
    const names = fc.constantFrom(
      "package.json",
      "deno.jsonc",
      "requirements.txt",
      "pyproject.toml",
      "go.mod",
      "Dockerfile",
      "compose.yaml",
      "Procfile",
      ".env.example",
      "main.py",
      "app/package.json",
      "next.config.js",
      "index.html",
      "manage.py",
      "angular.json",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.constantFrom("services:\n", "services:\n  a:\n", "{", '"', "/*"),
    );
    fc.assert(
      fc.property(fc.dictionary(names, texts, { maxKeys: 8 }), (files) => {
        expect(detected(files)).toEqual(detected(files));
      }),
      { numRuns: 500 },
    );
  });
});

describe("isManifest()", () => {
  test("is true for files to be read, near the root and outside of third-party folders", () => {
    const read = [
      "package.json",
      "apps/web/package.json",
      "Dockerfile",
      "a/compose.yml",
      ".env.example",
      "vite.config.mts",
      "app/main.py",
    ];
    const unread = [
      "node_modules/x/package.json",
      "src/index.ts",
      ".env",
      "a/b/c/d/package.json",
      "tests/fixtures/package.json",
      ".git/config",
      "xpackage.json",
    ];
    expect(read.filter((path) => !isManifest(path))).toEqual([]);
    expect(unread.filter(isManifest)).toEqual([]);
  });
});
