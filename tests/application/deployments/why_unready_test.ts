import { describe, expect, test } from "bun:test";
import type { Script } from "../../../adapters/memory/script.ts";
import type { ListeningSocket } from "../../../domain/deployments/unreachable.ts";
import type { ProjectSettings } from "../../../domain/projects/project.ts";
import { EngineScene, REPOSITORY, START } from "../../support/apps/engine_scene.ts";

/** The warnings in a deployment's log. */
async function warnings(scene: EngineScene, id: string): Promise<readonly string[]> {
  return (await scene.events(id)).flatMap((event) =>
    event.type === "log" && event.level === "warn" ? [event.message] : [],
  );
}

/** The error message for a program that listens on these sockets instead of the expected one. */
async function failedWith(listens: readonly ListeningSocket[], settings: ProjectSettings = {}) {
  await using scene = await EngineScene.open();
  scene.memory.runtime.scripts.set(START, { does: "keeps_silent", listens });
  scene.healthy = () => false;
  const failed = await scene.deployed(await scene.project({ gitUrl: REPOSITORY, ...settings }));
  expect(failed.error).toMatchObject({ code: "health_failed", step: "health" });
  return failed.error!.message;
}

/** The error message for a program in a crash loop. */
async function endedWith(script: Script, runtime: "process" | "docker" = "process") {
  await using scene = await EngineScene.open({ engine: { runtime } });
  scene.memory.runtime.scripts.set("service:app", script);
  const failed = await scene.deployed(await scene.project());
  expect(failed.error).toMatchObject({ code: "crash_loop", step: "health" });
  return failed.error!.message;
}

describe("a program that answers with an error", () => {
  test.each([
    [500, "it answers 500 on /health"],
    [404, "it answers 404 on /health"],
  ])("on its healthPath by %p is not reported as silent", async (status, reason) => {
    await using scene = await EngineScene.open();
    scene.status = () => status;
    const failed = await scene.deployed(await scene.project({ gitUrl: REPOSITORY, healthPath: "/health" }));
    expect(failed.error).toMatchObject({ code: "health_failed", step: "health" });
    expect(failed.error!.message).toStartWith(`Cannot bring it live: ${reason}`);
    expect(failed.error!.message).not.toContain("did not answer on");
  });

  test("during probation is reported with its status", async () => {
    await using scene = await EngineScene.open();
    let checks = 0;
    scene.status = () => (++checks === 1 ? 200 : 503);
    const failed = await scene.deployed(await scene.project({ gitUrl: REPOSITORY, healthPath: "/health" }));
    expect(failed.error).toMatchObject({ code: "health_failed", step: "switch" });
    expect(failed.error!.message).toContain("it was healthy, but now it answers 503 on /health");
  });

  test("without a healthPath goes live with a warning that says what to do", async () => {
    await using scene = await EngineScene.open();
    scene.status = () => 500;
    const ready = await scene.deployed(await scene.project());
    expect(ready.status).toBe("ready");
    expect(await warnings(scene, ready.id)).toEqual([expect.stringMatching(/^It answers 500 on \/.*set healthPath/i)]);
  });

  test.each([200, 302, 401, 404, null])("that is %p without a healthPath causes no warning", async (status) => {
    await using scene = await EngineScene.open();
    scene.status = () => status;
    const ready = await scene.deployed(await scene.project());
    expect(ready.status).toBe("ready");
    expect(await warnings(scene, ready.id)).toEqual([]);
  });
});

describe("a program that cannot be reached", () => {
  test("because it listens on another port gets an error with that port and what to do", async () => {
    const message = await failedWith([{ address: "0.0.0.0", port: 9999 }]);
    expect(message).toMatch(
      /^Cannot bring it live: it listens on 9999, not on \$PORT \(\d+\)\. .*environment variable PORT/,
    );
  });

  test("because it listens nowhere gets an error that says so, with and without a healthPath", async () => {
    for (const settings of [{}, { healthPath: "/health" }]) {
      expect(await failedWith([], settings)).toMatch(
        /^Cannot bring it live: it listens on no port, but should listen on \$PORT/,
      );
    }
  });

  test("in a container because it listens on 127.0.0.1 gets an error that asks for 0.0.0.0", async () => {
    await using scene = await EngineScene.open({ engine: { runtime: "docker" } });
    const listens = [{ address: "127.0.0.1", port: 3000 }];
    scene.memory.runtime.scripts.set("service:app", { does: "keeps_silent", listens });
    scene.healthy = () => false;
    const failed = await scene.deployed(await scene.project());
    expect(failed.error!.message).toBe("Cannot bring it live: it listens on 127.0.0.1 only; make it listen on 0.0.0.0");
  });

  test("in a container because it listens on another port gets an error with the setting to change", async () => {
    await using scene = await EngineScene.open({ engine: { runtime: "docker" } });
    const listens = [{ address: "0.0.0.0", port: 8080 }];
    scene.memory.runtime.scripts.set("service:app", { does: "keeps_silent", listens });
    scene.healthy = () => false;
    const failed = await scene.deployed(await scene.project());
    expect(failed.error!.message).toContain("it listens on 8080, not on $PORT (3000)");
    expect(failed.error!.message).toContain("set port on the project to 8080");
  });
});

describe("a program that runs a missing command", () => {
  test("gets an error with the language to install, or to use Docker", async () => {
    const prints = ["sh: 1: go: not found"];
    expect(await endedWith({ does: "ends", code: 127, prints })).toBe(
      'Cannot bring it live: Go is not installed on this machine. Install it, or let Docker build this: set the runtime of the project to "docker"',
    );
  });

  test("gets an error with the command if it is not a language", async () => {
    const message = await endedWith({ does: "ends", code: 127, prints: ["sh: 1: gunicorn: not found"] });
    expect(message).toStartWith("Cannot bring it live: its start command calls gunicorn, which is not installed. Add");
  });

  test("in a container gets an error that its image lacks the command", async () => {
    const message = await endedWith({ does: "ends", code: 127, prints: ["/bin/sh: gunicorn: not found"] }, "docker");
    expect(message).toStartWith("Cannot bring it live: its start command calls gunicorn, which is not in its image.");
  });

  test("but ends with another code gets an error with that code", async () => {
    const message = await endedWith({ does: "ends", code: 1, prints: ["sh: 1: nvm: not found"] });
    expect(message).toContain("it ended repeatedly, last with code 1");
  });
});
