import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { LocalReleaseFolders } from "../adapters/local/release_folders.ts";
import { LibraryManifestParser } from "../adapters/manifests/manifest_parser.ts";
import { detectFiles } from "../application/projects/uploads/detect_files.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";
import { tempFolder } from "./temp_folder.ts";

const FILES = 10_000;
const ROUNDS = 7;
const FILES_OF_A_PACKAGE = 125;

/**
 * Detection of a repository, including listing its files and reading its manifests, compared with listing its files
 * alone.
 */
export async function detect(): Promise<Result> {
  const small = await measured(FILES, ROUNDS);
  const large = await measured(10 * FILES, 3);
  return {
    ratio: small.ratio,
    details:
      `${small.files} files: detect ${small.detect} ms, listing ${small.list} ms, ${small.spread}, at most 2; ` +
      `${large.files} files: ${large.ratio.toFixed(2)} (detect ${large.detect} ms, listing ${large.list} ms)`,
  };
}

async function measured(files: number, rounds: number) {
  await using folder = await tempFolder();
  const folders = new LocalReleaseFolders(folder.path);
  const id = "repository";
  const written = writeRepository(await folders.make(id), files);
  const parser = new LibraryManifestParser();
  const list = async () => {
    let count = 0;
    for await (const _ of folders.entries(id)) count++;
    return count;
  };
  const find = async () => {
    const found = await detectFiles(parser, {
      entries: () => folders.entries(id),
      read: (path, options) => folders.read(id, path, options),
    });
    if (found.projectType !== "services") throw new Error("the repository was not recognised");
  };
  const sides = { ours: () => timed(find), other: () => timed(list) };
  const { ratio, ours, other, spread } = await inRounds(rounds, sides);
  return { files: written, ratio, list: Math.round(other), detect: Math.round(ours), spread };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** A workspace of packages in several languages, with realistic nesting. */
function writeRepository(root: string, files: number): number {
  const paths = new Map<string, string>([
    ["package.json", JSON.stringify({ private: true, workspaces: ["apps/*", "packages/*"] })],
    ["pnpm-lock.yaml", "lockfileVersion: '9.0'\n"],
    ["README.md", "# A repository\n"],
    ["backend/pom.xml", POM],
    ["backend/src/main/java/com/example/Main.java", "package com.example;\n"],
    ["services/mail/go.mod", "module example.com/mail\n\ngo 1.24\n"],
    ["services/mail/main.go", "package main\n"],
    ["services/jobs/requirements.txt", "fastapi\nuvicorn\n"],
    ["services/jobs/main.py", "from fastapi import FastAPI\napp = FastAPI()\n"],
  ]);
  for (let at = 0; paths.size < files; at++) {
    const home = at % 10 === 0 ? `apps/app${at}` : `packages/library${at}`;
    paths.set(`${home}/package.json`, manifest(home, at % 10 === 0));
    paths.set(`${home}/tsconfig.json`, '{ "compilerOptions": { "strict": true } }');
    paths.set(`${home}/.env.example`, "DATABASE_URL=\nPORT=3000\n");
    for (let file = 0; file < FILES_OF_A_PACKAGE && paths.size < files; file++) {
      const depth = ["src", "src/components", "src/components/forms/fields", "src/pages/settings", "test/unit"][
        file % 5
      ]!;
      paths.set(`${home}/${depth}/part${file}.ts`, `export const part${file} = ${file};\n`);
    }
  }
  const made = new Set([...paths.keys()].map((path) => dirname(join(root, path))));
  // Several times as fast as asynchronously, and nothing else runs.
  for (const folder of made) mkdirSync(folder, { recursive: true });
  for (const [path, text] of paths) writeFileSync(join(root, path), text);
  return paths.size;
}

function manifest(name: string, isApp: boolean): string {
  const app = {
    scripts: { build: "next build", start: "next start" },
    dependencies: { next: "15.1.0", react: "19.0.0" },
  };
  return JSON.stringify({
    name: name.replace("/", "-"),
    version: "1.0.0",
    ...(isApp ? app : { main: "dist/main.js" }),
  });
}

const POM = `<project><groupId>com.example</groupId><artifactId>backend</artifactId><version>1.0</version>
<build><plugins><plugin><artifactId>maven-shade-plugin</artifactId></plugin></plugins></build></project>`;
