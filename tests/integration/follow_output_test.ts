import { describe, expect, test } from "bun:test";
import type { LoggedLine } from "../../application/services/runtime_output.ts";
import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";
import type { OutputLine } from "../../ports/services/runtime.ts";
import { EngineScene, START } from "../support/apps/engine_scene.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { deployShop, SHOP, shopProject, shopScene } from "../support/apps/service_scene.ts";

const FOREVER = new AbortController().signal;

interface Wanted {
  readonly since?: number;
  readonly service?: string;
  readonly signal?: AbortSignal;
}

/** Follows the output of a deployment in a scene. */
async function follow(scene: EngineScene, id: string, { since = 0, service, signal = FOREVER }: Wanted = {}) {
  const options = { since, service, signal, caller: async () => scene.by };
  const events = await scene.useCases.followOutput(scene.by, id, options);
  if (!events) throw new Error("There is nothing to follow");
  return events[Symbol.asyncIterator]();
}

type Following = AsyncIterator<readonly DeploymentEvent[]>;

/** Reads events until one satisfies. */
async function until(following: Following, isLast: (event: DeploymentEvent) => boolean): Promise<DeploymentEvent[]> {
  const all: DeploymentEvent[] = [];
  while (!all.some(isLast)) {
    const { value, done } = await following.next();
    if (done) throw new Error(`It ended: ${JSON.stringify(all)}`);
    all.push(...value);
  }
  return all;
}

const says = (message: string) => (event: DeploymentEvent) => event.type === "log" && event.message === message;
const isEnd = ({ type }: DeploymentEvent) => type === "end";

/** The runtime log of a deployment. */
const logged = (scene: EngineScene, id: string, service?: string): Promise<readonly LoggedLine[]> =>
  scene.useCases.readLogs(scene.by, id, { since: 0, limit: 10_000, kind: "runtime", service });

const instanceOf = async (scene: EngineScene, id: string, name: string) =>
  (await scene.memory.deployments.get(id))!.services.find((service) => service.name === name)!.instanceId!;

describe("followOutput()", () => {
  test("yields the lines of all services with the numbers of the log, of one with its own", async () => {
    await using scene = await shopScene();
    scene.memory.runtime.scripts.set("service:db", { does: "answers", prints: ["ready for orders"] });
    const { id } = await deployShop(scene, await shopProject(scene), SHOP);
    const following = await follow(scene, id);
    const named = await follow(scene, id, { service: "web" });
    const first = await until(following, says("ready for orders"));
    const [web, api] = [await instanceOf(scene, id, "web"), await instanceOf(scene, id, "api")];
    for (let round = 0; round < 20; round++) {
      scene.memory.runtime.print(web, `web ${round}`);
      scene.memory.runtime.print(api, `api ${round}`);
      await Bun.sleep(10);
    }
    scene.memory.runtime.print(web, "last");
    const seen = [...first, ...(await until(following, says("last")))];
    expect(seen).toEqual((await logged(scene, id)).map((line) => ({ type: "log", ...line })));
    const own = await until(named, says("last"));
    expect(own).toEqual((await logged(scene, id, "web")).map((line) => ({ type: "log", ...line })));
    for (const each of [following, named]) await each.return!();
  });

  test("skips no line that becomes readable only after a later one of another service", async () => {
    let hides = 1;
    await using scene = await shopScene({
      replace: ({ runtime }) => ({
        runtime: intercepted(runtime, "output", async (goOn) => {
          const lines = (await goOn()) as readonly OutputLine[];
          const isLate = lines.some(({ message }) => message === "early") && hides-- > 0;
          return isLate ? lines.filter(({ message }) => message !== "early") : lines;
        }),
      }),
    });
    const { id } = await deployShop(scene, await shopProject(scene), SHOP);
    const [web, api] = [await instanceOf(scene, id, "web"), await instanceOf(scene, id, "api")];
    const following = await follow(scene, id);
    scene.memory.runtime.print(web, "begun");
    await until(following, says("begun"));
    scene.memory.runtime.print(api, "early");
    await Bun.sleep(5);
    scene.memory.runtime.print(web, "late");
    const seen = await until(following, says("late"));
    expect(seen.map((event) => event.type === "log" && event.message)).toEqual(["early", "late"]);
    await following.return!();
  });

  test("of a release ends when its service is taken over by the next one, even if that one keeps printing", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    const db = await instanceOf(scene, first.id, "db");
    scene.memory.runtime.print(db, "from the first");
    const following = await follow(scene, first.id);
    await until(following, says("from the first"));
    const second = await deployShop(scene, project, { ...SHOP, web: "2" });
    expect(await instanceOf(scene, second.id, "db")).toBe(db);
    const chatter = setInterval(() => scene.memory.runtime.print(db, "chatter"), 20);
    const seen = await until(following, isEnd);
    clearInterval(chatter);
    expect(seen.at(-1)).toMatchObject({ type: "end", status: "ready" });
    expect(await following.next()).toMatchObject({ done: true });
  });

  test("yields everything to a slow reader, page by page, while others are far ahead", async () => {
    await using scene = await EngineScene.open();
    scene.memory.runtime.scripts.set(START, { does: "answers", prints: ["up"] });
    const { id } = await scene.deployed(await scene.project());
    const instance = await instanceOf(scene, id, "app");
    const [slow, quick] = [await follow(scene, id), await follow(scene, id)];
    await Promise.all([until(slow, says("up")), until(quick, says("up"))]);
    const long = "x".repeat(1_000);
    for (let page = 0; page < 10; page++) {
      scene.memory.runtime.print(instance, ...Array.from({ length: 1_000 }, (_, line) => `${page} ${line} ${long}`));
      await until(quick, says(`${page} 999 ${long}`));
    }
    const all: DeploymentEvent[] = [];
    while (all.length < 10_000) {
      const { value } = await slow.next();
      const characters = value.reduce((sum: number, event: DeploymentEvent) => sum + JSON.stringify(event).length, 0);
      expect(characters).toBeLessThan(400_000);
      all.push(...value);
    }
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 2));
    for (const each of [slow, quick]) await each.return!();
  });

  test("can be resumed independently of running followers, wherever they began", async () => {
    await using scene = await EngineScene.open();
    scene.memory.runtime.scripts.set(START, { does: "answers", prints: ["one", "two"] });
    const { id } = await scene.deployed(await scene.project());
    const left = new AbortController();
    const beyond = await follow(scene, id, { since: 1_000_000, signal: left.signal });
    const waiting = beyond.next();
    const following = await follow(scene, id, { since: 2 });
    const next = until(following, says("three"));
    scene.memory.runtime.print(await instanceOf(scene, id, "app"), "three");
    expect((await next).map(({ seq }) => seq)).toEqual([3]);
    left.abort();
    expect(await waiting).toMatchObject({ done: true });
    await following.return!();
  });
});
