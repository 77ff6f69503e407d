import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { ProjectSettings } from "../../../domain/projects/project.ts";
import type { VariableUpsert } from "../../../domain/projects/variable.ts";
import { Secret } from "../../../domain/secret.ts";
import type { SourceFiles } from "../../../adapters/memory/sources.ts";
import { cleanImages } from "../../../application/deployments/cleanup/clean_images.ts";
import type { Instance } from "../../../ports/services/runtime.ts";
import { intercepted } from "../../support/faults/intercepted.ts";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";

const DOCKERFILE: SourceFiles = { Dockerfile: "FROM debian\nARG EDITION\nARG TOKEN\nEXPOSE 9000\n", "server.js": "" };

/** A scene whose deployments run as containers. */
function scene(options: Parameters<typeof EngineScene.open>[0] = {}) {
  return EngineScene.open({ ...options, engine: { runtime: "docker", ...options.engine } });
}

function project(open: EngineScene, files: SourceFiles, settings: ProjectSettings = {}) {
  open.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
  return open.project({ gitUrl: REPOSITORY, ...settings });
}

async function variable(
  open: EngineScene,
  projectId: string,
  given: Omit<VariableUpsert, "value"> & { value: string },
) {
  const upserts = [{ ...given, value: new Secret(given.value) }];
  await open.useCases.changeVariables(open.by, projectId, { upserts, deletes: [] });
}

/** The digests of the running images by deployment. */
async function running({ memory }: EngineScene): Promise<Record<string, string | null>> {
  return Object.fromEntries((await memory.runtime.list()).map(({ deploymentId, image }) => [deploymentId, image]));
}

const imagesOf = async ({ memory }: EngineScene) =>
  (await memory.releaseImages.list()).map(({ deploymentId }) => deploymentId).toSorted();

describe("a deployment in a container", () => {
  test("runs the image that was built from its Dockerfile", async () => {
    await using open = await scene();
    const ready = await open.deployed(await project(open, DOCKERFILE));
    const [request] = open.memory.imageBuilder.requests;
    expect(request).toMatchObject({ deploymentId: ready.id, dockerfile: { path: "Dockerfile" } });
    expect(ready).toMatchObject({ plan: { runtime: "docker", projectType: "docker", port: 9000, startCommand: null } });
    expect(ready.image).toStartWith("sha256:");
    expect(await running(open)).toEqual({ [ready.id]: ready.image });
  });

  test("passes a Dockerfile the arguments that it declares, but never secrets", async () => {
    await using open = await scene();
    const made = await project(open, DOCKERFILE, { buildArgs: { EDITION: "set" }, buildTarget: "production" });
    await variable(open, made.id, { key: "TOKEN", value: "of the variable", secret: true });
    await variable(open, made.id, { key: "OTHER", value: "not declared", secret: false });
    await open.deployed(made);
    const [request] = open.memory.imageBuilder.requests;
    expect([...request!.args]).toEqual([["EDITION", "set"]]);
    expect([...request!.secrets.keys()].toSorted()).toEqual(["OTHER", "TOKEN"]);
    expect(request!.target).toBe("production");
  });

  test("lists the declared arguments that stay empty because they are secrets", async () => {
    await using open = await scene();
    const made = await project(open, DOCKERFILE);
    await variable(open, made.id, { key: "TOKEN", value: "of the variable", secret: true });
    const { id } = await open.deployed(made);
    expect((await open.log(id)).join("\n")).toContain("ARG TOKEN stays empty: it is a secret");
  });

  test.each<[string, ProjectSettings, Partial<Deployment["plan"]>]>([
    ["the configured Dockerfile of a project with a site", { dockerfile: "api/Dockerfile" }, { port: 7000 }],
    ["the configured Dockerfile with a target", { dockerfile: "api/Dockerfile", buildTarget: "web" }, { port: 8080 }],
    ["a Dockerfile with another start command", { startCommand: "serve" }, { port: 9000, startCommand: "serve" }],
  ])("uses %s", async (_, settings, plan) => {
    await using open = await scene({ engine: { runtime: "auto" } });
    const api = "FROM debian AS web\nFROM web\nEXPOSE 7000 6000\n";
    const files = { ...DOCKERFILE, "api/Dockerfile": api, "index.html": "" };
    const ready = await open.deployed(await project(open, files, settings));
    const [request] = open.memory.imageBuilder.requests;
    expect(request!.dockerfile).toEqual({ path: settings.dockerfile ?? "Dockerfile" });
    expect(ready.plan).toMatchObject({ projectType: "docker", runtime: "docker", ...plan });
  });

  test("starts an app with a Dockerfile as a process when the project sets that and a start command", async () => {
    await using open = await scene();
    const ready = await open.deployed(
      await project(open, DOCKERFILE, { runtime: "process", startCommand: "serve", projectType: "app" }),
    );
    expect(ready.plan).toMatchObject({ projectType: "app", runtime: "process" });
  });

  test("is refused when its root directory does not exist", async () => {
    await using open = await scene();
    const failed = await open.deployed(await project(open, DOCKERFILE, { rootDirectory: "apps/shop" }));
    expect(failed.error).toMatchObject({ code: "root_directory_missing", step: "detect" });
  });

  test("generates a Dockerfile for a project without one", async () => {
    await using open = await scene();
    const ready = await open.deployed(await project(open, APP));
    const [request] = open.memory.imageBuilder.requests;
    const { text } = request!.dockerfile as { text: string };
    expect(text).toContain("npm install");
    expect(text).toContain("npm run start");
    expect(ready.plan).toMatchObject({ runtime: "docker", projectType: "app" });
    expect(open.memory.builder.requests).toEqual([]);
  });

  test("keeps only the program of a compiled language, unless a build or start command is set", async () => {
    await using open = await scene();
    const files: SourceFiles = { "go.mod": "module shop\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() {}\n" };
    await open.deployed(await project(open, files));
    await open.deployed(await project(open, files, { startCommand: "./run.sh" }));
    const all = /^COPY --from=build .*\["\/app\/","\/app\/"\]$/m;
    const [own, given] = open.memory.imageBuilder.requests.map(
      ({ dockerfile }) => (dockerfile as { text: string }).text,
    );
    expect(own).not.toMatch(all);
    expect(given).toMatch(all);
  });

  test("rebuilds when variables changed, and only then", async () => {
    await using open = await scene();
    const made = await project(open, APP);
    await variable(open, made.id, { key: "COLOUR", value: "red", secret: false });
    const first = await open.deployed(made);
    open.memory.clock.advance(1);
    const second = await open.deployed(made);
    open.memory.clock.advance(1);
    await variable(open, made.id, { key: "COLOUR", value: "blue", secret: false });
    const third = await open.deployed(made);
    expect(second.buildTag).toBe(first.buildTag);
    expect(third.buildTag).not.toBe(first.buildTag);
    const texts = open.memory.imageBuilder.requests.map(({ dockerfile }) => (dockerfile as { text: string }).text);
    expect(texts[0]).toBe(texts[1]!);
    expect(texts[2]).not.toBe(texts[1]!);
    expect(texts.join()).not.toContain("blue");
  });

  test("copies a static site out of the image that it was built in, and keeps no image", async () => {
    await using open = await scene();
    const site: SourceFiles = {
      "package.json": JSON.stringify({ scripts: { build: "vite build" }, devDependencies: { vite: "7" } }),
      "index.html": "source",
    };
    open.memory.imageBuilder.otherwise = { files: { "/app/dist/index.html": "<h1>Built</h1>" } };
    const ready = await open.deployed(await project(open, site));
    expect(ready).toMatchObject({ image: null, plan: { projectType: "static", outputDirectory: "dist" } });
    const page = await open.memory.releaseFolders.read(ready.id, "dist/index.html", { maxBytes: 100 });
    expect(new TextDecoder().decode(page)).toBe("<h1>Built</h1>");
    expect(await imagesOf(open)).toEqual([]);
  });

  test("that fails to build has an error, and leaves no image", async () => {
    await using open = await scene();
    const made = await project(open, DOCKERFILE);
    open.memory.imageBuilder.otherwise = { fails: { step: "[2/3] RUN make", exitCode: 2 }, prints: ["no rule"] };
    const failed = await open.settled((await open.deploy(made)).id);
    expect(failed).toMatchObject({ status: "failed", image: null, error: { code: "build_failed", step: "build" } });
    expect(await imagesOf(open)).toEqual([]);
  });

  test("without an engine fails with an error that names it, and the live release keeps serving", async () => {
    await using open = await scene();
    const made = await project(open, DOCKERFILE);
    const first = await open.deployed(made);
    open.memory.imageBuilder.answers = false;
    const failed = await open.settled((await open.deploy(made)).id);
    expect(failed.error).toMatchObject({ code: "engine_away", step: "build" });
    expect(open.served(made)).toBe(first.id);
  });

  test("whose Dockerfile is missing fails before anything is built", async () => {
    await using open = await scene();
    const failed = await open.settled((await open.deploy(await project(open, DOCKERFILE, { dockerfile: "other" }))).id);
    expect(failed.error).toMatchObject({ code: "dockerfile_missing", step: "build" });
    expect(open.memory.imageBuilder.requests).toEqual([]);
  });
});

const back = (open: EngineScene, id: string): Promise<Deployment> => open.useCases.rollback(open.by, id);

describe("a rollback in a container", () => {
  test("runs exactly the recorded image, without a build", async () => {
    await using open = await scene();
    const made = await project(open, DOCKERFILE);
    const first = await open.deployed(made);
    await open.deployed(made);
    const ready = await open.settled((await back(open, first.id)).id);
    expect(ready).toMatchObject({ status: "ready", image: first.image, artifactOf: first.id });
    expect(open.memory.imageBuilder.requests).toHaveLength(2);
    expect((await running(open))[ready.id]).toBe(first.image);
  });

  test("to an image that was removed from outside rebuilds its commit", async () => {
    await using open = await scene();
    const made = await project(open, DOCKERFILE);
    const first = await open.deployed(made);
    await open.deployed(made);
    await open.memory.releaseImages.remove(first.id);
    const ready = await open.settled((await back(open, first.id)).id);
    expect(ready).toMatchObject({ status: "ready", artifactOf: ready.id });
    expect(ready.image).not.toBe(first.image);
  });
});

describe("images", () => {
  test("stay for live and pinned releases and those within the window, and no others", async () => {
    await using open = await scene({ engine: { rollbackWindow: 1 } });
    const made = await project(open, DOCKERFILE);
    const all = [await open.deployed(made)];
    await open.useCases.pinDeployment(open.by, all[0]!.id, true);
    for (let round = 0; round < 4; round++) {
      open.memory.clock.advance(1);
      all.push(await open.deployed(made));
    }
    const [pinned, , , former, live] = all.map(({ id }) => id);
    expect(await imagesOf(open)).toEqual([pinned!, former!, live!].toSorted());
    expect(new Set(open.memory.releaseImages.trims)).toEqual(new Set([Number.POSITIVE_INFINITY]));
  });

  test("of deleted deployments are removed by the next sweep that reaches the engine", async () => {
    await using open = await scene();
    const made = await project(open, DOCKERFILE);
    const first = await open.deployed(made);
    const second = await open.deployed(made);
    await open.useCases.removeDeployment(open.by, first.id);
    open.memory.releaseImages.answers = false;
    await cleanImages(open.memory)();
    open.memory.releaseImages.answers = true;
    expect(await imagesOf(open)).toEqual([first.id, second.id].toSorted());
    await cleanImages(open.memory)();
    expect(await imagesOf(open)).toEqual([second.id]);
    await cleanImages(open.memory, 1_000)();
    expect(open.memory.releaseImages.trims.at(-1)).toBe(1_000);
  });
});

/** A deployment whose container's health check reports this. */
async function checked(health: Instance["health"], answers: boolean): Promise<Deployment> {
  const reported = async (goOn: () => unknown) => {
    const found = (await goOn()) as Instance | undefined;
    return found && { ...found, health };
  };
  await using open = await scene({
    replace: ({ runtime }) => ({ runtime: intercepted(intercepted(runtime, "find", reported), "start", reported) }),
  });
  open.healthy = () => answers;
  return await open.deployed(await project(open, DOCKERFILE));
}

describe("the HEALTHCHECK of an image", () => {
  test("takes precedence over whether the port answers", async () => {
    expect((await checked("healthy", false)).status).toBe("ready");
    const { error } = await checked("unhealthy", true);
    expect(error).toMatchObject({ code: "health_failed", step: "health" });
    expect(error!.message).toStartWith("Cannot bring it live: the HEALTHCHECK of its image did not succeed within");
  });

  test("that takes too long is replaced by the check of the port", async () => {
    expect((await checked("starting", true)).status).toBe("ready");
    expect((await checked("starting", false)).error).toMatchObject({ code: "health_failed", step: "health" });
  });
});
