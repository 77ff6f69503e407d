import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { detectedIn, EVERY_MANIFEST, type Files } from "../support/inputs/every_manifest.ts";

const MEANT_FOR_SOMEBODY = [
  "<project><modules><module>a</module></modules></project>",
  "<project><properties><a>${b}</a><b>${a}</b><java.version>${a}</java.version></properties></project>",
  "<Project Sdk='Microsoft.NET.Sdk.Web'><PropertyGroup/><PropertyGroup><TargetFramework/></PropertyGroup></Project>",
  "services: {a: {build: {context: [1]}}, b: null, c: {ports: [{target: {}}]}}",
  "name: []\nexecutables: 3\nenvironment: {sdk: [1]}\ndependencies: {flutter: null}",
  "targets:\n  __proto__: 1\nname: {}",
  '{ "sdk": { "version": 3, "rollForward": [] } }',
  "resolver: 22\ncompiler: [ghc]",
  "[tools]\njava = [[1]]\nelixir = { version = 3 }",
  "plugins {\n id 'application'\n}",
  "executable \nproject(\nadd_executable(${PROJECT_NAME})",
];

const EVIL = `x"; touch evil; $(evil) \`evil\``;
const EVIL_NAMES: Files = {
  "pom.xml": `<project><artifactId>${EVIL}</artifactId><version>${EVIL}</version><build><finalName>${EVIL}</finalName><plugins><plugin><artifactId>exec-maven-plugin</artifactId><configuration><mainClass>${EVIL}</mainClass></configuration></plugin></plugins></build></project>`,
  "settings.gradle": `rootProject.name = '${EVIL}'\ninclude '${EVIL}'`,
  "build.gradle": `plugins {\n id 'application'\n}\napplicationName = '${EVIL}'\nmainClass = '${EVIL}'`,
  [`${EVIL}.csproj`]: "<Project Sdk='Microsoft.NET.Sdk.Web'/>",
  "mix.exs": `app: :"${EVIL}", mod: {A}, elixir: "${EVIL}"`,
  "shard.yml": `name: '${EVIL}'\ntargets: { '${EVIL}': { main: '${EVIL}' } }`,
  "pubspec.yaml": `name: '${EVIL}'`,
  [`bin/${EVIL}.dart`]: "",
  "package.yaml": `name: '${EVIL}'\nexecutables: { '${EVIL}': {} }`,
  [`${EVIL}.cabal`]: `executable ${EVIL}`,
  "build.zig": `addExecutable(.{ .name = "${EVIL}" })`,
  "Package.swift": `.executableTarget(name: "${EVIL}")`,
  "CMakeLists.txt": `project(${EVIL})\nadd_executable(${EVIL} main.cpp)`,
  "meson.build": `executable('${EVIL}')`,
  Makefile: `TARGET = ${EVIL}\nall:\n\tcc main.c -o ${EVIL}\n`,
  "main.c": "",
  "build.sbt": `name := "${EVIL}"\nenablePlugins(JavaAppPackaging)`,
  "project.clj": `:uberjar-name "${EVIL}.jar"`,
  "compose.yaml": `services: { '${EVIL}': { build: '${EVIL}' } }`,
  [`Dockerfile.${EVIL}`]: "FROM x",
  ".tool-versions": `java ${EVIL}\nelixir ${EVIL}`,
};

describe("detect()", () => {
  test("never throws for random manifests of any ecosystem, and is deterministic", () => {
    const texts = fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.constantFrom(...MEANT_FOR_SOMEBODY));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...EVERY_MANIFEST), texts, { maxKeys: 8 }), (files) => {
        expect(detectedIn(files)).toEqual(detectedIn(files));
      }),
      { numRuns: 300 },
    );
  });

  test("lets no project name reach a command, with all manifests together or each alone", () => {
    const alone = Object.entries(EVIL_NAMES).map(([path, text]) => ({ "main.c": "", [path]: text }));
    for (const files of [EVIL_NAMES, ...alone]) {
      const { installCommand, buildCommand, startCommand, image } = detectedIn(files);
      expect(JSON.stringify({ installCommand, buildCommand, startCommand, image })).not.toContain("evil");
    }
  });

  test("finds the project among very many files and folders", () => {
    const many = Array.from({ length: 20_000 }, (_, at) => [`packages/p${at % 2_000}/src/${at}.ts`, ""] as const);
    const files = { ...Object.fromEntries(many), "zz/pom.xml": "<project><packaging>pom</packaging></project>" };
    expect(detectedIn(files).warnings).toEqual([expect.stringContaining("Cannot tell what this project is")]);
    expect(detectedIn({ ...files, "go.mod": "module a", "main.go": "" }).startCommand).toBe("./bin/app");
  });
});
