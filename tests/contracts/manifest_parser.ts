import { describe, expect, test } from "bun:test";
import type { ManifestParser } from "../../ports/projects/manifest_parser.ts";

/** Texts of each format with their parsed values. */
export const MANIFESTS: readonly (readonly [path: string, text: string, says: unknown])[] = [
  ["package.json", '{"name": "app", "list": [1]}', { name: "app", list: [1] }],
  ["deep/deno.jsonc", '{\n  // why\n  "tasks": {"start": "x"},\n}', { tasks: { start: "x" } }],
  [
    "Cargo.toml",
    '[package]\nname = "app"\n\n[[bin]]\nname = "one"\n',
    { package: { name: "app" }, bin: [{ name: "one" }] },
  ],
  ["Pipfile", '[requires]\npython_version = "3.12"\n', { requires: { python_version: "3.12" } }],
  ["pnpm-workspace.yaml", "packages:\n  - apps/*\n", { packages: ["apps/*"] }],
  ["compose.yml", "---\na: &x 1\nb: *x\n---\nc: 2\n", { a: 1, b: 1 }],
  [
    "pom.xml",
    '<?xml version="1.0"?><project><properties><java.version>21</java.version></properties><module>a</module><module>b</module></project>',
    { "?xml": { "@version": "1.0" }, project: { properties: { "java.version": "21" }, module: ["a", "b"] } },
  ],
  [
    "web/App.csproj",
    '<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup><TargetFramework>net9.0</TargetFramework></PropertyGroup></Project>',
    { Project: { "@Sdk": "Microsoft.NET.Sdk.Web", PropertyGroup: { TargetFramework: "net9.0" } } },
  ],
];

const BOMB = [
  "a: &a [x,x,x,x,x,x,x,x,x,x]",
  ...[..."bcdefghi"].map((name, at) => `${name}: &${name} [${`*${"abcdefgh"[at]},`.repeat(9)}]`),
];

const UNREADABLE: readonly (readonly [what: string, path: string, text: string])[] = [
  ["JSON that is cut short", "package.json", '{"name": '],
  ["JSON that is a list", "package.json", "[1]"],
  ["TOML that is cut short", "Cargo.toml", "[package"],
  ["YAML that is cut short", "a.yaml", "a: [b"],
  ["YAML that expands without bound", "a.yaml", BOMB.join("\n")],
  ["deeply nested JSON", "package.json", "[".repeat(200_000)],
  ["another ending", "main.go", "package main"],
  ["a name without an extension", "Makefile", "all:"],
];

/** Contract tests for manifest parsers. */
export function manifestParserContract(name: string, open: () => ManifestParser): void {
  describe(`manifest parser: ${name}`, () => {
    for (const [path, text, says] of MANIFESTS) {
      test(`parse() reads ${path}`, () => expect(open().parse(path, text)).toEqual(says));
    }
    for (const [what, path, text] of UNREADABLE) {
      test(`parse() of ${what} is nothing`, () => expect(open().parse(path, text)).toBeUndefined());
    }
  });
}
