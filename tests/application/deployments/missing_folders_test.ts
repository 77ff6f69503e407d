import { expect, test } from "bun:test";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { shopScene, statuses } from "../../support/apps/service_scene.ts";

test("an output folder that the build did not create is named in the error", async () => {
  await using scene = await EngineScene.open();
  const site = { gitUrl: REPOSITORY, projectType: "static", rootDirectory: "web", outputDirectory: "out" } as const;
  scene.known.git[REPOSITORY] = { commits: [commit("a1", { "web/package.json": APP["package.json"]! })] };
  const missing = await scene.deployed(await scene.project(site));
  expect(missing.error).toMatchObject({
    code: "output_missing",
    message:
      "Cannot serve this: there is no folder web/out after the build. " +
      "Set outputDirectory to the folder that it writes to",
  });
});

test("an output folder that is missing in the image of its build is named as it is set", async () => {
  await using scene = await shopScene();
  const files = { "package.json": JSON.stringify({ scripts: { build: "vite build" }, dependencies: { vite: "7" } }) };
  scene.known.git[REPOSITORY] = { commits: [commit("a1", { ...files, "package-lock.json": "{}", "index.html": "x" })] };
  const failed = await scene.deployed(await scene.project({ gitUrl: REPOSITORY, outputDirectory: "public" }));
  expect(failed.error).toMatchObject({
    code: "output_missing",
    message:
      "Cannot serve this: there is no file in the folder public after the build. " +
      "Set outputDirectory to the folder that it writes to",
  });
});

test("a service whose folder is missing in the source fails alone, and names the folder", async () => {
  await using scene = await shopScene();
  scene.known.git[REPOSITORY] = { commits: [commit("a1", { "web/Dockerfile": "FROM scratch" })] };
  const services = [
    { name: "web", build: "web", ports: [80] },
    { name: "api", build: "backend/api", ports: [3000] },
    { name: "job", rootDirectory: "jobs", startCommand: "work" },
  ];
  const project = await scene.project({ gitUrl: REPOSITORY, publicEndpoints: [{ service: "web" }] });
  const held = await scene.deployed(project, { services });
  expect(statuses(held)).toEqual({ web: "healthy", api: "failed", job: "failed" });
  expect(held.services.map(({ error }) => error)).toEqual([
    null,
    "Cannot build api: there is no folder backend/api in this source. Correct its rootDirectory or its build context",
    "Cannot build job: there is no folder jobs in this source. Correct its rootDirectory or its build context",
  ]);
});
