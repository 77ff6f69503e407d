import { describe, expect, test } from "bun:test";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";
import { detectFiles } from "../../application/projects/uploads/detect_files.ts";

const WORKSPACE: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ name: "all", private: true, packageManager: "pnpm@10.4.1" }),
  "pnpm-workspace.yaml": 'packages:\n  - "apps/*"\n',
  "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
  "apps/web/package.json": JSON.stringify({ name: "web", dependencies: { next: "16.0.0" } }),
  "apps/api/package.json": JSON.stringify({ name: "api", scripts: { start: "node ." } }),
  "tests/app/package.json": JSON.stringify({ name: "tested", scripts: { start: "node ." } }),
};

function inWorkspace(root?: string) {
  const tree = {
    async *entries() {
      for (const path of Object.keys(WORKSPACE).toSorted()) yield { path, type: "file" as const, size: 1 };
    },
    read: async (path: string) => (path in WORKSPACE ? new TextEncoder().encode(WORKSPACE[path]) : undefined),
  };
  return detectFiles(new LibraryManifestParser(), tree, root);
}

describe("detectFiles()", () => {
  test("sees the workspace around the given folder", async () => {
    expect(await inWorkspace("apps/web/")).toMatchObject({
      framework: "nextjs",
      packageManager: "pnpm",
      installCommand: "pnpm install --frozen-lockfile",
      rootDirectory: null,
    });
  });

  test("accepts a folder in any notation", async () => {
    const plain = await inWorkspace("apps/web");
    for (const written of ["apps/web/", "./apps/web", "apps//web/."]) expect(await inWorkspace(written)).toEqual(plain);
    for (const written of [".", "./", ""]) expect(await inWorkspace(written)).toEqual(await inWorkspace());
  });

  test("names the apps below the folder relative to it", async () => {
    expect((await inWorkspace("apps")).services).toEqual([
      { name: "api", rootDirectory: "api" },
      { name: "web", rootDirectory: "web" },
    ]);
  });

  test("looks into a folder that it would skip, when asked to", async () => {
    expect((await inWorkspace("tests/app")).startCommand).toBe("pnpm run start");
  });
});
