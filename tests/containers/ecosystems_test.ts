import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import { TestProject } from "../support/apps/deploying.ts";
import { type DockerServer, dockerServer } from "../support/servers/docker_server.ts";
import { ecosystemProjects } from "../support/inputs/ecosystem_projects.ts";
import { inTurns } from "../support/faults/in_turns.ts";
import { file } from "../support/inputs/tar_archive.ts";
import { toolchainImage } from "../support/peers/toolchain_image.ts";

type Files = ReadonlyMap<string, Uint8Array>;

const EXAMPLES = join(import.meta.dirname, "../../examples");
const projects = ecosystemProjects();
const inTurn = inTurns(3);

async function example(name: string): Promise<Files> {
  const paths = await Array.fromAsync(new Glob("**/*").scan({ cwd: join(EXAMPLES, name), dot: true }));
  const read = paths.map(async (path) => [path, await Bun.file(join(EXAMPLES, name, path)).bytes()] as const);
  return new Map(await Promise.all(read));
}

describe("an uploaded project is detected, built into an image and answers through the edge:", () => {
  let server: DockerServer;

  beforeAll(async () => {
    server = await dockerServer({ BASE_IMAGES: `*=${await toolchainImage()}`, BUILD_CONCURRENCY: "3" });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  /** Deploys a project; returns its page, runtime and services. */
  async function deployed(name: string, files: Files) {
    const project = await TestProject.create(server.slipway, { name });
    const { id } = await project.upload([...files].map(([path, bytes]) => file(path, bytes)));
    await project.deployed(id);
    const { data } = (await project.call("GET", `/api/deployments/${id}/info`)).body;
    return { page: await project.page(), runtime: data.runtime, services: data.services };
  }

  test("at least eight languages", () => expect(projects.length).toBeGreaterThanOrEqual(8));

  for (const { name, files, answer } of projects) {
    test.concurrent(
      name,
      inTurn(async () => {
        const { page, runtime, services } = await deployed(`speaks-${name}`, files);
        expect({ page, runtime }).toEqual({ page: answer, runtime: "docker" });
        expect(services).toMatchObject([{ status: "running", image: expect.stringMatching(/^sha256:/) }]);
      }),
    );
  }

  test.concurrent(
    "examples/docker-server",
    inTurn(async () => {
      const { page } = await deployed("docker-server", await example("docker-server"));
      expect(page).toBe("A plain container says hello\n");
    }),
  );

  test.concurrent(
    "examples/python-server",
    inTurn(async () => {
      const { page } = await deployed("python-server", await example("python-server"));
      expect(page).toBe("Python greets everyone\n");
    }),
  );

  test.concurrent(
    "examples/vite-site, as files that were built in a container",
    inTurn(async () => {
      const { page, services } = await deployed("vite-site", await example("vite-site"));
      expect(page).toMatch(/<script type="module" crossorigin src="\/assets\/index-/);
      expect(services).toEqual([]);
    }),
  );
});
