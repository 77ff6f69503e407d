import { expect, test } from "bun:test";
import { Failure } from "../../../domain/failure.ts";
import { Secret } from "../../../domain/secret.ts";
import { BUILD, EngineScene, START } from "../../support/apps/engine_scene.ts";
import { expectHidden } from "../../support/expect_hidden.ts";
import { intercepted } from "../../support/faults/intercepted.ts";
import { deployShop, digestOf, SHOP, shopProject, shopScene } from "../../support/apps/service_scene.ts";

const SECRET = "canary-Xk29+/qT&zzz";

async function scene(options: Parameters<typeof EngineScene.open>[0] = {}) {
  const opened = await EngineScene.open(options);
  const project = await opened.project();
  const upserts = [{ key: "API_KEY", value: new Secret(SECRET), secret: true }];
  await opened.useCases.changeVariables(opened.by, project.id, { upserts, deletes: [] });
  return { opened, project };
}

async function expectNothingLeaked(opened: EngineScene, id: string) {
  const shown = await opened.useCases.viewDeployment(opened.by, id);
  const kinds = await Promise.all(
    (["build", "runtime"] as const).map((kind) =>
      opened.useCases.readLogs(opened.by, id, { since: 0, limit: 1_000, kind }),
    ),
  );
  expectHidden(JSON.stringify([await opened.events(id), shown, kinds]), { variable: SECRET });
  expectHidden(opened.memory.log.lines.map(({ text }) => text).join("\n"), { variable: SECRET });
}

const SHOWN = [SECRET, `key=${SECRET};`, btoa(SECRET), encodeURIComponent(SECRET), JSON.stringify({ SECRET })];

test("a secret that a build or a program prints is masked in every event, log and response", async () => {
  const { opened, project } = await scene();
  await using _ = opened;
  opened.scriptBuild({ prints: SHOWN });
  opened.memory.runtime.scripts.set(START, { does: "answers", prints: SHOWN });
  const { id, status } = await opened.deployed(project);
  expect(status).toBe("ready");
  await expectNothingLeaked(opened, id);
  const lines = await opened.useCases.readLogs(opened.by, id, { since: 0, limit: 10, kind: "runtime" });
  expect(lines.map(({ message }) => message)[1]).toBe("key=[secret];");
});

test("the output of a program that ended is shown without its secrets", async () => {
  const { opened, project } = await scene();
  await using _ = opened;
  opened.memory.runtime.scripts.set(START, { does: "ends", code: 1, prints: SHOWN });
  const { id } = await opened.deployed(project);
  expect(await opened.log(id)).toContain("key=[secret];");
  await expectNothingLeaked(opened, id);
});

test("an error that quotes a secret is shown without it", async () => {
  const { opened, project } = await scene({
    replace: ({ builder }) => ({
      builder: intercepted(builder, "build", () =>
        Promise.reject(new Failure("invalid", "build_failed", `Cannot run "deploy --key ${SECRET}"`)),
      ),
    }),
  });
  await using _ = opened;
  const failed = await opened.deployed(project);
  expect(failed.error).toEqual({ code: "build_failed", message: 'Cannot run "deploy --key [secret]"', step: "build" });
  await expectNothingLeaked(opened, failed.id);
});

test("a command that holds a secret is shown without it", async () => {
  const { opened, project } = await scene();
  await using _ = opened;
  await opened.useCases.changeProject(opened.by, project.id, {
    settings: { buildCommand: `${BUILD} --key ${SECRET}` },
  });
  const { id } = await opened.deployed(project);
  expect(await opened.log(id)).toContain(`build: ${BUILD} --key [secret]`);
  expectHidden(JSON.stringify(await opened.events(id)), { variable: SECRET });
});

test("the output of a former version of a service is shown without the secrets that it was started with", async () => {
  await using opened = await shopScene();
  const project = await shopProject(opened);
  const set = (value: string) =>
    opened.useCases.changeVariables(opened.by, project.id, {
      upserts: [{ key: "API_KEY", value: new Secret(value), secret: true }],
      deletes: [],
    });
  opened.memory.runtime.scripts.set(digestOf("worker:1"), { does: "answers", prints: SHOWN });
  await set(SECRET);
  await deployShop(opened, project, SHOP);
  await set("quite-another-one");
  const { id, status } = await deployShop(opened, project, { ...SHOP, worker: "bad" });
  expect(status).toBe("partial_failure");
  const wanted = { since: 0, limit: 100, kind: "runtime", service: "worker" } as const;
  const lines = await opened.useCases.readLogs(opened.by, id, wanted);
  expect(lines.map(({ message }) => message)).toContain("key=[secret];");
  expectHidden(JSON.stringify(lines), { variable: SECRET });
  // Also in the log when a former version fails to start again.
  opened.memory.runtime.scripts.set(digestOf("api:1"), { does: "ends", code: 1, prints: SHOWN });
  const refused = await opened.useCases.rejectDeployment(opened.by, id).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "reject_failed" });
  expect(await opened.log(id)).toContain("key=[secret];");
  await expectNothingLeaked(opened, id);
});

test("the error of a program or a build that runs a secret as a command is shown without it", async () => {
  const { opened, project } = await scene();
  await using _ = opened;
  const word = "canary-0123456789-word";
  const upserts = [{ key: "TOKEN", value: new Secret(word), secret: true }];
  await opened.useCases.changeVariables(opened.by, project.id, { upserts, deletes: [] });
  const prints = [`sh: 1: ${word}: not found`];
  opened.memory.runtime.scripts.set(START, { does: "ends", code: 127, prints });
  const failed = await opened.deployed(project);
  expect(failed.error!.message).toContain("its start command calls [secret], which is not installed");
  opened.scriptBuild({ prints, exitCode: 127 });
  const unbuilt = await opened.deployed(project);
  expect(unbuilt.error!.message).toContain("its build command calls [secret], which is not installed");
});
