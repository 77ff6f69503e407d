import { describe, expect, test } from "bun:test";
import type { SourceFiles } from "../../../adapters/memory/sources.ts";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";

const OTHERWISE = 'set the runtime of the project to "process"';

/** The error message of a deployment of these files when no registry has its base image. */
async function failedBuild(files: SourceFiles): Promise<string> {
  await using scene = await EngineScene.open({ engine: { runtime: "docker" } });
  scene.known.git[REPOSITORY] = { commits: [commit("b1", files)] };
  scene.memory.imageBuilder.otherwise = { lacks: "node:24-bookworm-slim" };
  const failed = await scene.deployed(await scene.project());
  expect(failed.error).toMatchObject({ code: "base_image_missing", step: "build" });
  return failed.error!.message;
}

function below(folder: string, files: SourceFiles): SourceFiles {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}

describe("where a base image cannot be pulled", () => {
  test("the error of a project without a Dockerfile says that processes need no base image", async () => {
    const message = await failedBuild(APP);
    expect(message).toContain("node:24-bookworm-slim");
    expect(message).toEndWith(`; or ${OTHERWISE}, which needs no image`);
  });

  test("the error of a repository of several apps says so too", async () => {
    expect(await failedBuild({ ...below("api", APP), ...below("web", APP) })).toContain(OTHERWISE);
  });

  test("the error of a project with a Dockerfile does not, as it cannot run otherwise", async () => {
    expect(await failedBuild({ Dockerfile: "FROM node:24" })).not.toContain(OTHERWISE);
  });

  test("the error of a project with a service that needs an image does not either", async () => {
    const services = { db: { image: "postgres:17" }, web: { build: "./web", ports: ["80:3000"] } };
    await using scene = await EngineScene.open({ engine: { runtime: "docker" } });
    const files = { "compose.yaml": JSON.stringify({ services }), ...below("web", APP) };
    scene.known.git[REPOSITORY] = { commits: [commit("b1", files)] };
    scene.memory.imageBuilder.otherwise = { lacks: "node:24-bookworm-slim" };
    const { services: parts } = await scene.deployed(await scene.project());
    const web = parts.find(({ name }) => name === "web");
    expect(web?.error).toContain("node:24-bookworm-slim");
    expect(web?.error).not.toContain(OTHERWISE);
  });
});
