import { describe, expect, test } from "bun:test";
import type { MemoryMachine } from "../../adapters/memory/remote_hosts.ts";
import { member, memoryApp } from "../support/apps/app.ts";
import { callers } from "../support/apps/furnished.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { HOST_KEY, machine, migrationScene, OTHER_HOST_KEY } from "../support/apps/migration_scene.ts";

const ROUTES = ["scan", "adopt"] as const;

describe.each(ROUTES)("POST /api/migration/%s", (route) => {
  test("answers a server of nobody, of another organization and a malformed id alike, before any connection", async () => {
    const scene = await migrationScene();
    const { foreign } = await callers(scene.app);
    const asked: readonly (readonly [string, string])[] = [
      ["srv_00000000000000000000000000", scene.app.owner],
      ["x", scene.app.owner],
      ["../../etc", scene.app.owner],
      [scene.id, foreign],
      ["srv_00000000000000000000000000", foreign],
    ];
    const texts = new Set<string>();
    for (const [serverId, token] of asked) {
      const answer = await (route === "scan"
        ? scene.scan({ token, body: { serverId } })
        : scene.adopt({ serverId }, { token }));
      expect(answer.status).toBe(404);
      texts.add(answer.text);
    }
    expect(texts.size).toBe(1);
    expect(scene.connections()).toBe(0);
    expect(await scene.projects()).toEqual([]);
  });

  test("needs server:write on that very server, before any connection", async () => {
    const scene = await migrationScene();
    const { app, id } = scene;
    const other = { name: "Other", sshHost: "other.example.com", sshUser: "x", sshPassword: "y" };
    const { id: otherId } = (await app.call("POST", "/api/servers", { token: app.owner, body: other })).body.data;
    const may = (server: string, action: string) =>
      member(app, "viewer", { grants: [{ resource: "server", id: server, action }] });
    for (const { token } of [await may(otherId, "write"), await may(id, "read"), await member(app, "developer")]) {
      const answer = await (route === "scan" ? scene.scan({ token }) : scene.adopt({}, { token }));
      expect(answer.status).toBe(403);
      expect(answer.body.error).toContain('"server:write"');
    }
    expect(scene.connections()).toBe(0);
    const { token } = await may(id, "write");
    expect((await (route === "scan" ? scene.scan({ token }) : scene.adopt({}, { token }))).status).toBe(200);
    expect(scene.connections()).toBe(1);
  });

  test.each<[string, Partial<MemoryMachine> | "gone", string]>([
    ["unreachable", "gone", "the connection was refused"],
    ["unreachable", { manner: "hangs_up" }, "it hung up"],
    ["auth_failed", { logins: [] }, "it was refused"],
    ["engine_missing", { engine: "missing" }, "missing"],
    ["engine_forbidden", { engine: "forbidden" }, "forbidden"],
    ["engine_stopped", { engine: "stopped" }, "stopped"],
  ])("answers 502 %s with a sentence, stores nothing and records the failed check", async (code, change, why) => {
    const scene = await migrationScene(change === "gone" ? machine({ host: "elsewhere" }) : machine(change));
    const answer = await scene[route]();
    expect([answer.status, answer.body.code]).toEqual([502, code]);
    expect(answer.body.error).toStartWith("Cannot ");
    expect(answer.body.error).toContain(why);
    expect(answer.text).not.toContain("canary");
    expect(await scene.projects()).toEqual([]);
    expect((await scene.server()).lastCheckError).toBe(answer.body.error);
    expect(scene.app.world.remoteHosts.openSessions).toBe(0);
  });

  test("records the host key the first time, and refuses another one afterwards with 502", async () => {
    const scene = await migrationScene();
    expect((await scene.server()).hostKey).toBeNull();
    expect((await scene[route]()).status).toBe(200);
    expect(await scene.server()).toMatchObject({ hostKey: HOST_KEY, lastCheckError: null });
    scene.app.world.remoteHosts.add(machine({ hostKey: OTHER_HOST_KEY }));
    const answer = await (route === "scan" ? scene.scan() : scene.adopt({ projectName: "Another" }));
    expect([answer.status, answer.body.code]).toEqual([502, "host_key_changed"]);
    expect(answer.body.error).toContain(HOST_KEY);
    expect(answer.body.error).toContain(OTHER_HOST_KEY);
    expect((await scene.server()).hostKey).toBe(HOST_KEY);
  });

  test("answers 502 when the engine goes away while it is read", async () => {
    const scene = await migrationScene(machine(), ({ engineInventories }) => ({
      engineInventories: {
        read: () => engineInventories.read("memory://nowhere:22"),
      },
    }));
    const answer = await scene[route]();
    expect([answer.status, answer.body.code]).toEqual([502, "engine_stopped"]);
    expect(answer.body.error).toContain("stopped answering");
    expect(scene.app.world.remoteHosts.openSessions).toBe(0);
  });

  test("answers 409 when the server gets another address meanwhile, and stores nothing", async () => {
    let move: (() => Promise<void>) | undefined;
    const scene = await migrationScene(machine(), ({ engineInventories }) => ({
      engineInventories: intercepted(engineInventories, "read", async (proceed) => {
        await move?.();
        return proceed();
      }),
    }));
    const { call, owner: token } = scene.app;
    const body = { sshHost: "elsewhere.example.com", sshPassword: "another" };
    move = async () => void (await call("PATCH", `/api/servers/${scene.id}`, { token, body }));
    const answer = await scene[route]();
    expect([answer.status, answer.body.code]).toEqual([409, "server_changed"]);
    expect(await scene.projects()).toEqual([]);
    expect((await scene.server()).hostKey).toBeNull();
  });

  test("closes its connection, whatever happens", async () => {
    const scene = await migrationScene();
    await scene[route]();
    await scene.adopt({ serviceNames: ["nothing"] });
    expect(scene.app.world.remoteHosts.openSessions).toBe(0);
  });

  test("is not there in cloud mode, like any unknown path", async () => {
    const app = await memoryApp({ mode: "cloud" });
    expect(app.routes.filter(({ path }) => path.includes("migration"))).toEqual([]);
    for (const call of [{}, { token: app.owner, body: { serverId: "x" } }]) {
      const answer = await app.call("POST", `/api/migration/${route}`, call);
      const unknown = await app.call("POST", "/api/unknown/path", call);
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
    }
  });
});

describe("a body that is not complete", () => {
  test.each([
    ["scan", {}, "serverId"],
    ["scan", { serverId: "" }, "serverId"],
    ["scan", { serverId: 7 }, "serverId"],
    ["scan", { serverId: "x", extra: 1 }, "extra"],
    ["adopt", { projectName: "Shop", serviceNames: ["a"] }, "serverId"],
    ["adopt", { serverId: "x", serviceNames: ["a"] }, "projectName"],
    ["adopt", { serverId: "x", projectName: "", serviceNames: ["a"] }, "projectName"],
    ["adopt", { serverId: "x", projectName: "Shop" }, "serviceNames"],
    ["adopt", { serverId: "x", projectName: "Shop", serviceNames: [] }, "serviceNames"],
    ["adopt", { serverId: "x", projectName: "Shop", serviceNames: "a" }, "serviceNames"],
    ["adopt", { serverId: "x", projectName: "Shop", serviceNames: [""] }, "serviceNames.0"],
    ["adopt", { serverId: "x", projectName: "Shop", serviceNames: ["a"], services: [] }, "services"],
  ] as const)("%s refuses %j and names %s", async (route, body, path) => {
    const scene = await migrationScene();
    const answer = await scene.app.call("POST", `/api/migration/${route}`, { token: scene.app.owner, body });
    expect(answer.status).toBe(400);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(answer.body.error).toContain(path.split(".")[0]!);
    expect(scene.connections()).toBe(0);
  });
});
