import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import { failing } from "../support/faults/failing.ts";
import { APP, BUILD, commit, EngineScene, REPOSITORY, type SceneOptions, START } from "../support/apps/engine_scene.ts";

interface Case {
  readonly what: string;
  readonly step: string;
  readonly code: string;
  readonly sentence: RegExp;
  /** A line that the log must contain as the reason. */
  readonly logs?: string;
  readonly options?: SceneOptions;
  readonly arrange: (scene: EngineScene) => void;
}

const CASES: readonly Case[] = [
  {
    what: "the repository is gone",
    step: "fetch",
    code: "git_not_found",
    sentence: /^Cannot clone the repository/,
    arrange: (scene) => void delete scene.known.git[REPOSITORY],
  },
  {
    what: "it has no start command",
    step: "detect",
    code: "nothing_to_start",
    sentence: /set startCommand/,
    arrange: (scene) =>
      void (scene.known.git[REPOSITORY] = { commits: [commit("c1", { "notes.txt": "nothing to run" })] }),
  },
  {
    what: "it has a Dockerfile and the server runs processes only",
    step: "detect",
    code: "runtime_unsupported",
    sentence: /as a process/,
    arrange: (scene) =>
      void (scene.known.git[REPOSITORY] = { commits: [commit("c2", { Dockerfile: "FROM scratch" })] }),
  },
  {
    what: "the build ends with an exit code",
    step: "build",
    code: "build_failed",
    sentence: /exit code 3/,
    logs: "cannot find module",
    arrange: (scene) => scene.scriptBuild({ prints: ["compiling", "cannot find module"], exitCode: 3 }),
  },
  {
    what: "the build takes too long",
    step: "build",
    code: "build_timeout",
    sentence: /BUILD_TIMEOUT_SECONDS/,
    logs: "still at it",
    options: { engine: { buildTimeoutMs: 1_500 } },
    arrange: (scene) => scene.scriptBuild({ prints: ["still at it"], hangs: true }),
  },
  {
    what: "the runtime cannot start it",
    step: "start",
    code: "internal",
    sentence: /something unexpected/,
    arrange: (scene) => void (scene.memory.runtime.start = () => Promise.reject(new Error("no such program"))),
  },
  {
    what: "it is in a crash loop",
    step: "health",
    code: "crash_loop",
    sentence: /ended repeatedly, last with code 7/,
    logs: "no database",
    arrange: (scene) =>
      void scene.memory.runtime.scripts.set(START, { does: "ends", code: 7, prints: ["no database"] }),
  },
  {
    what: "it prints the reason after many lines",
    step: "health",
    code: "crash_loop",
    sentence: /ended repeatedly/,
    logs: "no database",
    arrange: (scene) => {
      const prints = [...Array.from({ length: 12_000 }, (_, index) => `${index}`), "no database"];
      scene.memory.runtime.scripts.set(START, { does: "ends", code: 7, prints });
    },
  },
  {
    what: "it runs out of memory",
    step: "health",
    code: "out_of_memory",
    sentence: /ran out of memory/,
    logs: "loading everything",
    arrange: (scene) =>
      void scene.memory.runtime.scripts.set(START, { does: "takes_all_memory", prints: ["loading everything"] }),
  },
  {
    what: "it never answers",
    step: "health",
    code: "health_failed",
    sentence: /did not answer/,
    logs: "waiting for nothing",
    arrange: (scene) => {
      scene.memory.runtime.scripts.set(START, { does: "answers", prints: ["waiting for nothing"] });
      scene.healthy = () => false;
    },
  },
  {
    what: "it stops answering",
    step: "switch",
    code: "health_failed",
    sentence: /answered, but then stopped answering/,
    logs: "listening",
    arrange: (scene) => {
      scene.memory.runtime.scripts.set(START, { does: "answers", prints: ["listening"] });
      let checks = 0;
      scene.healthy = () => ++checks === 1;
    },
  },
  {
    what: "it crashes during probation",
    step: "switch",
    code: "crash_loop",
    sentence: /ended repeatedly/,
    arrange: (scene) => {
      scene.healthy = () => {
        scene.memory.runtime.scripts.set(START, { does: "ends", code: 1 });
        void scene.memory.runtime.list().then(async (list) => scene.memory.runtime.restart(list.at(-1)!.instanceId));
        return true;
      };
    },
  },
];

async function expectFailed(scene: EngineScene, failed: Deployment, { step, code, sentence, logs }: Case) {
  expect(failed).toMatchObject({ status: "failed", error: { step, code }, artifactAvailable: false, prompt: null });
  expect(failed.error!.message).toMatch(sentence);
  expect(failed.finishedAt).not.toBeNull();
  const log = await scene.log(failed.id);
  expect(log).toContain(failed.error!.message);
  if (logs) expect(log).toContain(logs);
  const last = (await scene.events(failed.id)).slice(-2);
  expect(last).toMatchObject([
    { type: "status", status: "failed" },
    { type: "end", status: "failed", error: failed.error },
  ]);
  expect(failed.steps.find(({ name }) => name === step)?.status).toBe("failed");
  for (const service of failed.services) {
    expect(service).toMatchObject({ status: "failed", error: failed.error!.message, instanceId: null });
  }
}

describe.each(CASES)("when $what", (failure) => {
  test("a first deployment fails with step, code and message, and leaves nothing", async () => {
    await using scene = await EngineScene.open(failure.options);
    failure.arrange(scene);
    const project = await scene.project();
    const failed = await scene.deployed(project);
    await expectFailed(scene, failed, failure);
    expect(scene.served(project)).toBeUndefined();
    expect(await scene.running()).toEqual([]);
    expect(await scene.folders()).toEqual([]);
  });

  test("a later one leaves the live release as it was", async () => {
    await using scene = await EngineScene.open(failure.options);
    const project = await scene.project();
    const good = await scene.deployed(project);
    expect(good.status).toBe("ready");
    failure.arrange(scene);
    await expectFailed(scene, await scene.deployed(project), failure);
    await expectServing(scene, project, good);
  });
});

async function expectServing(scene: EngineScene, project: Project, good: Deployment) {
  expect(scene.served(project)).toBe(good.id);
  expect(await scene.running()).toEqual([good.id]);
  expect(await scene.folders()).toEqual([good.id]);
  expect((await scene.memory.liveReleases.find(project.id))?.deployment.id).toBe(good.id);
}

test("a site without a file in its output folder is refused", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project({ gitUrl: REPOSITORY, projectType: "static", outputDirectory: "out" });
  const failed = await scene.deployed(project);
  expect(failed.error).toMatchObject({
    step: "health",
    code: "output_missing",
    message: expect.stringContaining("out"),
  });
});

test("a source that never arrives is abandoned after the build timeout", async () => {
  await using scene = await EngineScene.open({
    engine: { buildTimeoutMs: 40 },
    replace: () => ({
      sources: {
        fetch: (_, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
          ),
      },
    }),
  });
  const failed = await scene.deployed(await scene.project());
  expect(failed.error).toMatchObject({ step: "fetch", code: "build_timeout" });
});

test("an environment that cannot be decrypted ends it, instead of endless retries", async () => {
  await using scene = await EngineScene.open({
    replace: ({ deployments }) => ({
      deployments: failing(deployments, "environment", { error: new Error("another key") }),
    }),
  });
  const { id } = await scene.deploy(await scene.project());
  expect(await scene.settled(id)).toMatchObject({ status: "failed", error: { code: "internal", step: null } });
});

test("when the deployment cannot be stored, the upload stays for a retry", async () => {
  await using scene = await EngineScene.open({
    replace: ({ deployments }) => ({ deployments: failing(deployments, "create", { times: 1 }) }),
  });
  const project = await scene.project({});
  const request = { uploadSessionId: await scene.upload(APP) };
  expect(await scene.deploy(project, request).catch((error: Error) => error.message)).toBe("Broken on purpose");
  expect(await scene.memory.deployments.ofProject(project.id)).toEqual([]);
  expect(await scene.deployed(project, request)).toMatchObject({ status: "ready", trigger: "upload" });
});

test("a failure to clean up former releases does not undo a new one", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project();
  await scene.deployed(project);
  scene.memory.releaseFolders.remove = () => Promise.reject(new Error("disk is gone"));
  for (let count = 0; count < 3; count++) expect((await scene.deployed(project)).status).toBe("ready");
  const last = await scene.deployed(project);
  expect(last).toMatchObject({ status: "ready", error: null });
  expect(await scene.log(last.id)).toContainEqual(expect.stringContaining("retried later"));
  expect(scene.served(project)).toBe(last.id);
});

test("a failure to remove a failed one does not prevent its end", async () => {
  await using scene = await EngineScene.open();
  scene.memory.releaseFolders.remove = () => Promise.reject(new Error("disk is gone"));
  scene.scriptBuild({ exitCode: 1 });
  expect((await scene.deployed(await scene.project())).error?.code).toBe("build_failed");
});

test("the next deployment of a failed project starts at once", async () => {
  await using scene = await EngineScene.open();
  scene.scriptBuild({ exitCode: 1 });
  const project = await scene.project();
  expect((await scene.deployed(project)).status).toBe("failed");
  scene.memory.builder.scripts.delete(BUILD);
  scene.known.git[REPOSITORY] = { commits: [commit("d2", APP)] };
  expect((await scene.deployed(project)).status).toBe("ready");
});
