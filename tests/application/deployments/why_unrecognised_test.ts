import { describe, expect, test } from "bun:test";
import type { SourceFiles } from "../../../adapters/memory/sources.ts";
import type { ProjectSettings } from "../../../domain/projects/project.ts";
import { commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";

/** Deploys these files and returns the settled deployment. */
async function deployed(files: SourceFiles, settings: ProjectSettings = {}) {
  await using scene = await EngineScene.open();
  scene.known.git[REPOSITORY] = { commits: [commit("f1", files)] };
  return await scene.deployed(await scene.project({ gitUrl: REPOSITORY, ...settings }));
}

const BROKEN = '{\n  "scripts": {\n    "start": "node server.js",\n  }\n}\n';

describe("a deployment that cannot be started gives the reason in its error", () => {
  test.each<[string, SourceFiles, string]>([
    [
      "an extra comma in package.json",
      { "package.json": BROKEN, "server.js": "" },
      "Cannot read package.json: in line 3 there is a comma before }. Correct it, or set startCommand on the project",
    ],
    [
      "an extra comma in a subfolder",
      { "README.md": "", "web/package.json": BROKEN, "web/server.js": "" },
      "Cannot read web/package.json: in line 3 there is a comma before }. Correct it, or set startCommand on the project",
    ],
    [
      "no start script",
      { "package.json": '{"name": "a"}', "lib/a.js": "" },
      'Cannot tell how to start the project: package.json has no start script and there is no index.js or server.js. Add a start script such as "start": "node server.js", or set startCommand on the project',
    ],
    [
      "a start script for development only",
      { "package.json": '{"scripts": {"start": "tsc --watch"}}' },
      "Cannot tell how to start the project: the start script of package.json is for development only",
    ],
    [
      "no known file",
      { "notes.txt": "nothing to run" },
      "Cannot tell what this project is: it has none of the files that show it, such as Dockerfile, compose.yaml, package.json,",
    ],
  ])("with %s", async (_, files, sentence) => {
    const { status, error } = await deployed(files);
    expect([status, error?.code, error?.step]).toEqual(["failed", "nothing_to_start", "detect"]);
    expect(error!.message).toStartWith(sentence);
  });

  test("with a service of several, by its name and file", async () => {
    const files = {
      "compose.yaml": JSON.stringify({ services: { web: { build: "./web" } } }),
      "web/package.json": BROKEN,
    };
    const { error } = await deployed(files, { runtime: "docker" });
    expect(error?.code).toBe("nothing_to_start");
    expect(error!.message).toStartWith("Cannot read web/package.json: in line 3 there is a comma before }");
  });

  test("unless a start command is set", async () => {
    const { status } = await deployed({ "package.json": BROKEN, "server.js": "" }, { startCommand: "node server.js" });
    expect(status).toBe("ready");
  });
});
