import { describe, expect, test } from "bun:test";
import { detectedIn, EVERY_MANIFEST, type Files } from "../support/inputs/every_manifest.ts";

/** Files that make an ecosystem read its other files. */
const COMPANIONS: Files = {
  "pom.xml": "<project><artifactId>a</artifactId></project>",
  "build.gradle": "plugins {\n id 'application'\n}",
  "build.sbt": "enablePlugins(PlayScala)",
  "mix.exs": "{:phoenix, ",
  "stack.yaml": "resolver: lts-22.0",
};
const LENGTH = 100_000;
const PIECES: readonly (readonly [what: string, piece: string])[] = [
  ["blanks", " "],
  ["empty lines", "\n"],
  ["indented lines", "    \n"],
  ["letters", "a"],
  ["dots", "a."],
  ["quotes", `"'`],
  ["equals signs", "a = "],
  ["references", "${a}"],
  ["open elements", "<a>"],
  ["brackets", "([{"],
  ["continued lines", "RUN a \\\n"],
  ["instructions", `FROM a AS b\nEXPOSE ${"1 ".repeat(50)}\nARG A\n`],
  ["plugins", "id 'a' version 'b'\nalias(libs.plugins.a)\ninclude 'a', 'b'\n"],
  ["includes", "include 'a', 'b', "],
  ["variables", 'System.get_env("A") ||\n'],
  ["executables", "add_executable(a)\nexecutable('a')\naddExecutable(.{ .name = \nexecutable a\n"],
  ["targets", '.executableTarget(\n name: "\nlazy val a = (project in file("b"))\n'],
  ["compilers", "\t$(CC) -o a.o -o b.o\nTARGET = \n"],
];

describe("detect()", () => {
  for (const [what, piece] of PIECES) {
    const text = piece.repeat(LENGTH / piece.length);
    // Quadratic time would take minutes for each file here, far beyond the timeout of any test.
    test(`reads very many ${what} in every manifest`, () => {
      for (const path of EVERY_MANIFEST) expect(detectedIn({ ...COMPANIONS, [path]: text }).warnings).toBeArray();
    });
  }

  for (const [what, text] of [
    ["blanks", " ".repeat(1_000_000)],
    ["empty lines", "\n".repeat(1_000_000)],
    ["quotes", '\\"'.repeat(500_000)],
    ["comments", "/*".repeat(500_000)],
    ["brackets", "[".repeat(1_000_000)],
    ["services", `services:\n${"  a:\n".repeat(200_000)}`],
    ["letters", "a".repeat(1_000_000)],
    ["blanks before a comment", `services:\n  a:\n    build: x${" ".repeat(1_000_000)}y`],
  ] as const) {
    // Quadratic time would take minutes here, far beyond the timeout of any test.
    test(`reads a megabyte of ${what} in every manifest`, () => {
      const names = [
        "package.json",
        "deno.json",
        "requirements.txt",
        "go.mod",
        "Dockerfile",
        "compose.yaml",
        "Procfile",
        ".env.example",
        "main.py",
        "angular.json",
      ];
      for (const name of names) {
        const files: Files = {
          "package.json": JSON.stringify({ dependencies: { "@angular/core": "1" } }),
          "requirements.txt": "fastapi",
          "main.py": "",
          [name]: text,
        };
        expect(detectedIn(files).language).toBeString();
      }
    });
  }
});
