import { describe, expect, test } from "bun:test";
import { EngineScene, REPOSITORY } from "../../support/engine_scene.ts";

/** The warnings in a deployment's log. */
async function warnings(scene: EngineScene, id: string): Promise<readonly string[]> {
  return (await scene.events(id)).flatMap((event) =>
    event.type === "log" && event.level === "warn" ? [event.message] : [],
  );
}

describe("a program that answers with an error", () => {
  test.each([
    [500, "it answers 500 on /health"],
    [404, "it answers 404 on /health"],
  ])("on its healthPath by %p is not said to keep silent", async (status, reason) => {
    await using scene = await EngineScene.open();
    scene.status = () => status;
    const failed = await scene.deployed(await scene.project({ gitUrl: REPOSITORY, healthPath: "/health" }));
    expect(failed.error).toMatchObject({ code: "health_failed", step: "health" });
    expect(failed.error!.message).toStartWith(`Cannot bring it live: ${reason}`);
    expect(failed.error!.message).not.toContain("did not answer on");
  });

  test("while it is watched is named with its status", async () => {
    await using scene = await EngineScene.open();
    let asked = 0;
    scene.status = () => (++asked === 1 ? 200 : 503);
    const failed = await scene.deployed(await scene.project({ gitUrl: REPOSITORY, healthPath: "/health" }));
    expect(failed.error).toMatchObject({ code: "health_failed", step: "switch" });
    expect(failed.error!.message).toContain("it was well, and now it answers 503 on /health");
  });

  test("without a healthPath goes live with a warning that says what to do", async () => {
    await using scene = await EngineScene.open();
    scene.status = () => 500;
    const ready = await scene.deployed(await scene.project());
    expect(ready.status).toBe("ready");
    expect(await warnings(scene, ready.id)).toEqual([expect.stringMatching(/^It answers 500 on \/.*set healthPath/i)]);
  });

  test.each([200, 302, 401, 404, null])("that is %p without a healthPath is nothing to warn of", async (status) => {
    await using scene = await EngineScene.open();
    scene.status = () => status;
    const ready = await scene.deployed(await scene.project());
    expect(ready.status).toBe("ready");
    expect(await warnings(scene, ready.id)).toEqual([]);
  });
});
