import { describe, expect, test } from "bun:test";
import { assert, constantFrom, oneof, property, string } from "fast-check";
import { join } from "node:path";
import { foregroundCommand } from "../../domain/image/foreground_command.ts";
import { recipe } from "../../domain/detection/image_recipe.ts";
import { Failure } from "../../domain/failure.ts";
import { baseImageEntry } from "../../domain/image/base_images.ts";
import { type DockerfileRequest, generatedDockerfile, workingFolder } from "../../domain/image/generated_dockerfile.ts";
import { DOCKERFILE_SCENES, plainRequest, SECRET_SCENES, SITE_SCENE } from "../support/inputs/dockerfile_requests.ts";

const FOLDER = join(import.meta.dirname, "dockerfiles");
const UPDATES = process.env["UPDATE_DOCKERFILES"] === "1";

/** The lines with this instruction. */
function lines(special: Partial<DockerfileRequest>, word: string): string[] {
  return generatedDockerfile(plainRequest(special))
    .split("\n")
    .filter((line) => line.startsWith(`${word} `));
}

const PLAIN_COMMANDS = { install: "a", build: "b", start: "c" };

/** The first word of every line. */
function firstWords(commands: DockerfileRequest["commands"], path: string): string[] {
  const odd = recipe("a", { manifests: [path], keep: [`x${path}`] });
  const text = generatedDockerfile(plainRequest({ recipe: odd, commands, secretNames: ["A"] }));
  return text.split("\n").map((line) => line.split(" ")[0]!);
}

describe("generatedDockerfile() returns the text in tests/domain/dockerfiles:", () => {
  const scenes = { ...DOCKERFILE_SCENES, ...SECRET_SCENES, site: SITE_SCENE };
  const requests = Object.entries(scenes).flatMap(([name, { request }]): [string, DockerfileRequest][] => [
    [name, request],
    [`${name}, without mounts`, { ...request, mounts: false }],
  ]);

  test.each(requests)("%s", async (name, request) => {
    const text = generatedDockerfile(request);
    const file = Bun.file(join(FOLDER, `${name.replace(/[ ,]+/g, "-")}.dockerfile`));
    if (UPDATES) await Bun.write(file, text);
    expect(text).toBe(await file.text());
  });
});

describe("generatedDockerfile()", () => {
  test("uses base images as mapped by the operator", () => {
    const baseImages = [baseImageEntry("node=mirror.example.com/js/node")!];
    const mixed = recipe("node:22", { runImage: "gcr.io/thing/run:1" });
    expect(lines({ recipe: mixed, baseImages }, "FROM")).toEqual([
      "FROM mirror.example.com/js/node:22 AS build",
      "FROM gcr.io/thing/run:1 AS run",
    ]);
  });

  test("sets the variables of the final stage only there", () => {
    const variables = recipe("a", { environment: { A: "1", B: "1" }, runEnvironment: { B: "2", C: "3" } });
    expect(lines({ recipe: variables }, "ENV").map((line) => line.slice(4))).toEqual([
      'A="1"',
      'B="1"',
      'A="1"',
      'B="2"',
      'C="3"',
      'HOME="/home/slipway" PORT="3000" TINI_KILL_PROCESS_GROUP="1"',
    ]);
  });

  test("keeps the caches of projects apart", () => {
    const cached = recipe("a", { caches: ["/root/.npm"] });
    const commands = { install: "npm ci", build: null, start: "npm start" };
    expect(lines({ recipe: cached, commands, cacheScope: "prj_a" }, "RUN")[0]).toContain("id=prj_a/root/.npm,");
    expect(lines({ recipe: cached, commands, cacheScope: "prj_b" }, "RUN")[0]).toContain("id=prj_b/root/.npm,");
  });

  test("passes the environment digest to the build, and to nothing before it", () => {
    const [one, two] = ["one", "two"].map((environmentDigest) =>
      generatedDockerfile({ ...SECRET_SCENES["secrets while installing and building"]!.request, environmentDigest }),
    ) as [string, string];
    const [before, after] = one.split('ARG SLIPWAY_ENVIRONMENT="one"\n') as [string, string];
    expect(two).toBe(`${before}ARG SLIPWAY_ENVIRONMENT="two"\n${after}`);
    expect(after).toMatch(/^RUN .*cat list >> marks/);
  });

  test("mentions no secret when the builder cannot hide it", () => {
    const { request } = SECRET_SCENES["secrets while installing and building"]!;
    expect(generatedDockerfile({ ...request, mounts: false })).not.toMatch(/slipway_env|--mount/);
  });

  test("leaves manifests out when their line would be too long", () => {
    const manifests = Array.from({ length: 400 }, (_, number) => `${"long/".repeat(20)}${number}/package.json`);
    const commands = { install: "npm ci", build: null, start: "npm start" };
    const text = generatedDockerfile(plainRequest({ recipe: recipe("node:22", { manifests }), commands }));
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(65_536);
    expect(text).toMatch(/COPY \["\.","\/app\/"\]\nRUN \["\/bin\/sh","-c","npm ci"\]/);
  });

  test.each<[string, Partial<DockerfileRequest>, string]>([
    ["a version with a line break", { recipe: recipe("node:22\nRUN evil") }, '"node:22\\nRUN evil" cannot be the name'],
    ["a version with a space", { recipe: recipe("node:22 AS x") }, '"node:22 AS x" cannot be the name'],
    ["a version with a variable", { recipe: recipe("node:$X") }, '"node:$X" cannot be the name'],
    ["an empty version", { recipe: recipe("node:") }, '"node:" cannot be the name'],
    [
      "a value with a line break",
      { recipe: recipe("a", { environment: { A: "b\nRUN evil" } }) },
      "the value of A contains",
    ],
    [
      "a root directory with a line break",
      { recipe: recipe("a", { wholeRepository: true }), rootDirectory: "a\nRUN evil" },
      "the root directory contains",
    ],
  ])("refuses %s with an explanation", (_, special, sentence) => {
    const make = () => generatedDockerfile(plainRequest(special));
    expect(make).toThrow(Failure);
    expect(make).toThrow(`Cannot generate a Dockerfile: ${sentence}`);
    expect(make).toThrow("your own Dockerfile");
  });

  test("never lets user text start a line", () => {
    const text = oneof(
      string({ unit: "binary" }),
      string({
        unit: constantFrom("\n", "\r", "\\", '"', "'", "$", "]", "<<", "#", " ", "RUN", "a", "\u2028", "\u0085"),
      }),
    );
    assert(
      property(text, text, text, text, (install, build, start, path) => {
        expect(firstWords({ install, build, start }, path)).toEqual(firstWords(PLAIN_COMMANDS, "path"));
      }),
    );
  });

  test("passes on every command unchanged", () => {
    assert(
      property(string({ unit: "grapheme" }), (start) => {
        const [command] = lines({ commands: { install: null, build: null, start } }, "CMD");
        expect(JSON.parse(command!.slice("CMD ".length))).toEqual(["/bin/sh", "-c", foregroundCommand(start)]);
        expect(command).not.toContain("<<");
      }),
    );
  });
});

describe("workingFolder()", () => {
  test.each([
    [false, null, "/app"],
    [false, "apps/web", "/app"],
    [true, null, "/app"],
    [true, "apps/web", "/app/apps/web"],
    [true, "./apps//web/.", "/app/apps/web"],
  ])("with the whole repository %p and the root directory %p is %s", (wholeRepository, rootDirectory, expected) => {
    expect(workingFolder({ recipe: recipe("a", { wholeRepository }), rootDirectory })).toBe(expected);
  });
});
