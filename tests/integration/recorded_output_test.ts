import { describe, expect, test } from "bun:test";
import type { LoggedLine } from "../../application/services/runtime_output.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { Secret } from "../../domain/secret.ts";
import { EngineScene, START } from "../support/apps/engine_scene.ts";
import { eventually } from "../support/eventually.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { failing } from "../support/faults/failing.ts";
import { deployShop, digestOf, SHOP, shopProject, shopScene } from "../support/apps/service_scene.ts";

// Long, because replaced instances are stopped with a delay.
const TALKING = { does: "answers", prints: ["one", "two", "three"], lastWords: ["bye"] } as const;
const ALL = { since: 0, limit: 1_000, kind: "runtime" } as const;

async function read(scene: EngineScene, id: string, query: object = {}): Promise<readonly LoggedLine[]> {
  return scene.useCases.readLogs(scene.by, id, { ...ALL, ...query });
}

/** The output of programs, without the notes about their exits. */
const messages = (lines: readonly LoggedLine[]) =>
  lines.filter(({ stream }) => stream !== "slipway").map(({ message }) => message);

/** Resolves once nothing is left that was started for a deployment. */
async function gone(scene: EngineScene, { id }: Pick<Deployment, "id">): Promise<void> {
  const running = await eventually(
    () => scene.running(),
    (found) => !found.includes(id),
  );
  expect(running).not.toContain(id);
}

async function talkingScene(options: Parameters<typeof EngineScene.open>[0] = {}) {
  const scene = await EngineScene.open(options);
  scene.memory.runtime.scripts.set(START, TALKING);
  return scene;
}

describe("the output of a release", () => {
  test("is shown after it was replaced, including its last lines, with the same numbers", async () => {
    await using scene = await talkingScene();
    const project = await scene.project();
    const first = await scene.deployed(project);
    const before = await read(scene, first.id, { limit: 2 });
    scene.memory.clock.advance(1_000);
    await scene.deployed(project);
    await gone(scene, first);
    const after = await read(scene, first.id, { since: before.at(-1)!.seq });
    expect(messages([...before, ...after])).toEqual(["one", "two", "three", "bye"]);
    expect([...before, ...after]).toEqual([...(await read(scene, first.id))]);
    const text = await Array.fromAsync(await scene.useCases.downloadLogs(scene.by, first.id, { kind: "runtime" }));
    expect(text.join("")).toBe("one\ntwo\nthree\nbye\n");
  });

  test("is shown when it did not come up", async () => {
    await using scene = await EngineScene.open();
    scene.memory.runtime.scripts.set(START, { does: "ends", code: 3, prints: ["no luck"] });
    const failed = await scene.deployed(await scene.project());
    expect(failed.status).toBe("failed");
    const lines = await read(scene, failed.id);
    expect(messages(lines)).toEqual(Array.from({ length: 5 }, () => "no luck"));
    expect(lines.at(-1)).toMatchObject({
      stream: "slipway",
      message: "The program ended with code 3, next try in 60 s",
    });
  });

  test("is shown when it was cancelled", async () => {
    await using scene = await talkingScene({ engine: { probationMs: 60_000 } });
    const { id } = await scene.deploy(await scene.project());
    await scene.inStep(id, "switch");
    await scene.useCases.cancelDeployment(scene.by, id);
    expect(messages(await read(scene, id))).toEqual(["one", "two", "three", "bye"]);
  });

  test("is shown for a preview that has ended, even while it drains", async () => {
    await using scene = await talkingScene({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const drained = Promise.withResolvers<void>();
    scene.memory.edge.drained = () => drained.promise;
    const made: Deployment[] = [];
    for (let count = 0; count < 2; count++) {
      scene.memory.clock.advance(1_000);
      made.push(await scene.deployed(project, { environment: "preview" }));
    }
    const [first] = made;
    expect((await scene.memory.deployments.get(first!.id))?.services).toMatchObject([{ status: "stopped" }]);
    expect(messages(await read(scene, first!.id))).toEqual(["one", "two", "three"]);
    drained.resolve();
    await gone(scene, first!);
    expect(messages(await read(scene, first!.id))).toEqual(["one", "two", "three", "bye"]);
  });

  test("is removed with the deployment, and nothing is recorded for a deleted one", async () => {
    await using scene = await talkingScene();
    const { id } = await scene.deployed(await scene.project());
    await scene.useCases.removeDeployment(scene.by, id);
    expect(await scene.running()).toEqual([]);
    expect(await scene.memory.runtimeLogs.states([{ deploymentId: id, service: "app" }])).toEqual([]);
    expect(scene.memory.log.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("is stored without its secrets", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const secret = "canary-Xk29+/qT&zzz";
    const upserts = [{ key: "API_KEY", value: new Secret(secret), secret: true }];
    await scene.useCases.changeVariables(scene.by, project.id, { upserts, deletes: [] });
    const prints = [`key=${secret};`, btoa(secret), encodeURIComponent(secret)];
    scene.memory.runtime.scripts.set(START, { does: "answers", prints, lastWords: [`bye ${secret}`] });
    const first = await scene.deployed(project);
    // Later secrets do not matter: the deployment had other values.
    const another = [{ key: "API_KEY", value: new Secret("quite-another-one"), secret: true }];
    await scene.useCases.changeVariables(scene.by, project.id, { upserts: another, deletes: [] });
    scene.memory.clock.advance(1_000);
    await scene.deployed(project);
    await gone(scene, first);
    const owner = { deploymentId: first.id, service: "app" };
    const stored = await scene.memory.runtimeLogs.read(owner, { since: 0, limit: 10 });
    expect(stored.map(({ message }) => message)).toEqual(["key=[secret];", "[secret]", "[secret]", "bye [secret]"]);
    expectHidden(JSON.stringify(stored), { secret });
  });

  test("is dropped when it cannot be recorded, and the release is replaced anyway", async () => {
    await using scene = await talkingScene({
      replace: ({ runtimeLogs }) => ({ runtimeLogs: failing(runtimeLogs, "append") }),
    });
    const project = await scene.project();
    const first = await scene.deployed(project);
    scene.memory.clock.advance(1_000);
    await scene.deployed(project);
    await gone(scene, first);
    expect(await read(scene, first.id)).toEqual([]);
    const warnings = scene.memory.log.lines.filter(({ level }) => level === "warn").map(({ text }) => text);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("Could not record the output of an instance");
    expect(warnings[0]).toContain("Broken on purpose");
  });
});

/** A shop whose services print their version. */
async function printingShop() {
  const scene = await shopScene();
  const project = await shopProject(scene);
  for (const name of Object.keys(SHOP)) {
    for (const version of ["1", "2"]) {
      const prints = [`${name} ${version} up`, `${name} ${version} at work`];
      const does = name === "migrate" ? ({ does: "ends", code: 0 } as const) : ({ does: "answers" } as const);
      const script = { ...does, prints, lastWords: [`${name} ${version} ends`] };
      scene.memory.runtime.scripts.set(digestOf(`${name}:${version}`), script);
    }
  }
  return { scene, project, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

describe("the output of several services", () => {
  test("is shown together after they were replaced, and paging meanwhile loses and repeats nothing", async () => {
    await using shop = await printingShop();
    const { project, scene } = shop;
    const first = await deployShop(scene, project, SHOP);
    const all = await read(scene, first.id);
    expect(all).toHaveLength(10);
    const paged = [...(await read(scene, first.id, { limit: 4 }))];
    const named = [...(await read(scene, first.id, { limit: 1, service: "web" }))];
    await deployShop(scene, project, { web: "2", api: "2", worker: "2", migrate: "2", db: "2" });
    await gone(scene, first);
    for (let page = [...paged]; page.length > 0;) {
      page = [...(await read(scene, first.id, { since: paged.at(-1)!.seq, limit: 3 }))];
      paged.push(...page);
    }
    expect(paged).toEqual([...(await read(scene, first.id))]);
    expect(paged.slice(0, 10)).toEqual([...all]);
    expect(messages(paged.slice(10)).toSorted()).toEqual(
      ["api", "db", "web", "worker"].map((name) => `${name} 1 ends`),
    );
    named.push(...(await read(scene, first.id, { since: named[0]!.seq, service: "web" })));
    expect(messages(named)).toEqual(["web 1 up", "web 1 at work", "web 1 ends"]);
  });

  test("is shown for a version that failed, and then for the restored former one", async () => {
    await using shop = await printingShop();
    const { project, scene } = shop;
    const first = await deployShop(scene, project, SHOP);
    const before = await read(scene, first.id, { service: "worker" });
    const second = await deployShop(scene, project, { ...SHOP, worker: "bad" });
    expect(second.status).toBe("partial_failure");
    const life = ["worker 1 up", "worker 1 at work"];
    const both = [...life, "worker 1 ends", ...life];
    const former = await read(scene, first.id, { service: "worker" });
    expect(messages(former)).toEqual(both);
    expect(former.slice(0, 2)).toEqual([...before]);
    expect(await read(scene, first.id, { service: "worker", since: before.at(-1)!.seq })).toEqual(former.slice(2));
    const lines = await read(scene, second.id, { service: "worker" });
    expect(messages(lines)).toEqual([...Array.from({ length: 5 }, () => "it went wrong"), ...both]);
    const numbers = lines.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    for (const [index, { seq }] of lines.entries()) {
      const rest = await read(scene, second.id, { service: "worker", since: seq, limit: 3 });
      expect(rest).toEqual(lines.slice(index + 1, index + 4));
    }
    const together = (await read(scene, second.id)).filter(({ service }) => service === "worker");
    expect(messages(together).toSorted()).toEqual(messages(lines).toSorted());
  });

  test("is shown for a release that was rejected, and completely for the restored one", async () => {
    await using shop = await printingShop();
    const { project, scene } = shop;
    const first = await deployShop(scene, project, SHOP);
    const second = await deployShop(scene, project, { ...SHOP, api: "2", worker: "bad" });
    // Waits until the former version of `api` is removed, so that the reject has to start it again.
    const former = first.services.find(({ name }) => name === "api")!.instanceId!;
    await eventually(
      () => scene.memory.runtime.find(former),
      (instance) => instance === undefined,
    );
    await scene.useCases.rejectDeployment(scene.by, second.id);
    const printed = ["api 2 up", "api 2 at work"];
    expect(messages(await read(scene, second.id, { service: "api" })).slice(0, 2)).toEqual(printed);
    await gone(scene, second);
    expect(messages(await read(scene, second.id, { service: "api" }))).toEqual([...printed, "api 2 ends"]);
    expect(messages(await read(scene, second.id))).toContain("api 2 ends");
    const life = ["api 1 up", "api 1 at work"];
    expect(messages(await read(scene, first.id, { service: "api" }))).toEqual([...life, "api 1 ends", ...life]);
  });
});
