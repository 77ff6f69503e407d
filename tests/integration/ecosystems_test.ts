import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";
import { detectFiles } from "../../application/uploads/detect_files.ts";
import type { Detection } from "../../domain/detection/detection.ts";
import { type DockerfileRequest, generatedDockerfile, workingFolder } from "../../domain/image/generated_dockerfile.ts";
import { builtImage, removeBuiltImages } from "../support/built_image.ts";
import { run } from "../support/command.ts";
import { ecosystemProjects } from "../support/ecosystem_projects.ts";
import { eventually } from "../support/eventually.ts";
import { TEST_LABEL } from "../support/test_leftovers.ts";
import { allFrom, toolchainImage } from "../support/toolchain_image.ts";

type Files = ReadonlyMap<string, Uint8Array>;

const MINUTES = 60_000;
const PORT = 8123;
const START_WITHIN = 20_000;
const projects = ecosystemProjects();
let toolchains = "";

beforeAll(async () => {
  toolchains = await toolchainImage();
}, 10 * MINUTES);

afterAll(removeBuiltImages);

function detected(files: Files): Promise<Detection> {
  return detectFiles(new LibraryManifestParser(), {
    async *entries() {
      for (const [path, { length }] of files) yield { path, type: "file" as const, size: length };
    },
    read: async (path) => files.get(path),
  });
}

/** What a deployment would ask for, with the language's image replaced by the one that has them all. */
function requestFor(found: Detection): DockerfileRequest {
  return {
    recipe: found.image!,
    commands: { install: found.installCommand, build: found.buildCommand, start: found.startCommand },
    rootDirectory: null,
    port: PORT,
    mounts: true,
    cacheScope: "test",
    secretNames: [],
    environmentDigest: "",
    baseImages: allFrom(toolchains),
  };
}

async function imageOf(files: Files, request: DockerfileRequest): Promise<string> {
  const dockerfile = (mounts: boolean) => generatedDockerfile({ ...request, mounts });
  return (await builtImage({ files, dockerfile })).image;
}

/** What an image answers at `/` once it runs. */
async function answerOf(image: string): Promise<string | undefined> {
  const options = ["--detach", "--init", "--label", TEST_LABEL, "--publish", `127.0.0.1::${PORT}`];
  const container = (await run(["docker", "run", ...options, image])).output.trim();
  try {
    const published = (await run(["docker", "port", container, String(PORT)])).output.trim();
    const ask = () =>
      fetch(`http://${published}/`).then(
        (response) => response.text(),
        () => undefined,
      );
    const answer = await eventually(ask, (text) => text !== undefined, START_WITHIN);
    return answer ?? (await run(["docker", "logs", container])).lastLine;
  } finally {
    await run(["docker", "rm", "--force", "--volumes", container]);
  }
}

async function example(name: string): Promise<Files> {
  const folder = join(import.meta.dirname, "../../examples", name);
  const paths = await Array.fromAsync(new Glob("**/*").scan({ cwd: folder, dot: true }));
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await Bun.file(join(folder, path)).bytes()] as const)),
  );
}

describe("a project is recognised, built and answers:", () => {
  test("at least eight languages", () => expect(projects.length).toBeGreaterThanOrEqual(8));

  test.each(projects.map((project) => [project.name, project] as const))(
    "%s",
    async (_, { files, answer }) => {
      const found = await detected(files);
      expect({ image: found.image, start: found.startCommand }).not.toContainValue(null);
      expect(await answerOf(await imageOf(files, requestFor(found)))).toBe(answer);
    },
    5 * MINUTES,
  );

  test(
    "examples/python-server",
    async () => {
      const files = await example("python-server");
      const image = await imageOf(files, requestFor(await detected(files)));
      expect(await answerOf(image)).toBe("Python greets everybody\n");
    },
    5 * MINUTES,
  );

  test(
    "examples/vite-site, as files",
    async () => {
      const files = await example("vite-site");
      const found = await detected(files);
      expect(found).toMatchObject({ projectType: "static", framework: "vite", startCommand: null });
      const request = requestFor(found);
      const page = `${workingFolder(request)}/${found.outputDirectory}/index.html`;
      const shown = await run([
        "docker",
        "run",
        "--rm",
        "--label",
        TEST_LABEL,
        await imageOf(files, request),
        "cat",
        page,
      ]);
      expect(shown.output).toMatch(/<script type="module" crossorigin src="\/assets\/index-/);
    },
    5 * MINUTES,
  );
});
