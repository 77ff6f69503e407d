import { describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { found, foundIn, inventoryOf } from "../support/inputs/found.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { CANARY, INVENTORY, machine, migrationScene, SHOP_FOLDER } from "../support/apps/migration_scene.ts";

const [WEB, DB, CACHE, OWN] = INVENTORY.containers;
const EVENTS = { headers: { accept: "text/event-stream" } };
const EMPTY_SERVICE = {
  build: null,
  command: ["serve"],
  dependsOn: [],
  drift: [],
  entrypoint: [],
  environment: [],
  healthcheck: null,
  labels: {},
  managedBy: null,
  networks: [],
  ports: [],
  restart: "no",
  source: "compose",
  state: "running",
  volumes: [],
};
const LABELS = {
  "com.docker.compose.container-number": "1",
  "com.docker.compose.oneoff": "False",
  "com.docker.compose.project": "shop",
  "com.docker.compose.project.config_files": "/srv/shop/compose.yml",
  "com.docker.compose.project.working_dir": "/srv/shop",
};
const STACK_SERVICES = [
  {
    ...EMPTY_SERVICE,
    key: "shop/db",
    name: "db",
    project: "shop",
    containerIds: [DB!.id],
    image: "postgres:17",
    imageId: DB!.imageId,
    environment: [{ key: "POSTGRES_PASSWORD", secret: true, value: null }],
    volumes: [{ type: "volume", source: "shop_data", target: "/var/lib/postgresql/data", readOnly: false }],
    labels: { ...LABELS, "com.docker.compose.service": "db" },
    drift: [
      "environment: set in the container only: POSTGRES_PASSWORD",
      "restart: no in the container, the compose files say always",
    ],
  },
  {
    ...EMPTY_SERVICE,
    key: "shop/web",
    name: "web",
    project: "shop",
    containerIds: [WEB!.id],
    image: "shop-web",
    imageId: WEB!.imageId,
    build: "/srv/shop/web",
    dependsOn: ["db"],
    environment: [
      { key: "API_TOKEN", secret: true, value: null },
      { key: "GREETING", secret: false, value: "hello" },
    ],
    ports: ["8080:80"],
    labels: { ...LABELS, "com.docker.compose.service": "web", "my.token": "***", team: "blue" },
  },
  {
    ...EMPTY_SERVICE,
    key: "shop/worker",
    name: "worker",
    project: "shop",
    containerIds: [],
    command: [],
    image: "",
    imageId: "",
    restart: "",
    state: "absent",
    drift: ["it has no container, although the compose files declare it"],
  },
];

/** The events of a stream: type and data. */
function eventsIn(text: string) {
  return text
    .split("\n\n")
    .filter((block) => block.includes("data:"))
    .map((block) => ({
      id: /^id: (.*)$/m.exec(block)?.[1],
      event: /^event: (.*)$/m.exec(block)?.[1],
      data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!),
    }));
}

describe("POST /api/migration/scan", () => {
  test("shows what runs, compared with the compose files, and never a secret", async () => {
    const { app, id, scan } = await migrationScene();
    const answer = await scan();
    expect(answer.status).toBe(200);
    expect(answer.body.stack).toEqual({
      serverId: id,
      scannedAt: app.world.clock.now().toISOString(),
      runtime: { name: "docker", version: "28.3.0" },
      composeProjects: [
        { name: "shop", configFiles: ["/srv/shop/compose.yml"], workingDir: "/srv/shop", services: STACK_SERVICES },
      ],
      containers: [
        {
          ...EMPTY_SERVICE,
          key: "cache",
          name: "cache",
          source: "container",
          project: null,
          containerIds: [CACHE!.id],
          image: "redis:8",
          imageId: CACHE!.imageId,
          command: ["redis-server", "--requirepass", "***"],
          volumes: [{ type: "bind", source: "/srv/cache", target: "/data", readOnly: true }],
          healthcheck: {
            test: ["CMD-SHELL", "redis-cli -a *** ping"],
            intervalMs: 5_000,
            timeoutMs: null,
            startPeriodMs: null,
            retries: 3,
          },
          state: "exited",
        },
      ],
      volumes: [
        { name: "shop_data", driver: "local", usedBy: ["shop/db"] },
        { name: "unused", driver: "nfs", usedBy: [] },
      ],
      networks: [{ name: "shop_default", driver: "bridge" }],
      warnings: [
        "shop/web: its image shop-web exists on this server only, no registry has it. It can be deployed on this server, not elsewhere",
        "shop/worker: it has no container to adopt. Start it on the server first, then scan again",
        "cache: cache has stopped. Adopting does not start it, the first deployment does",
      ],
      managed: [
        {
          key: "slipway-prj-1",
          name: "slipway-prj-1",
          containerId: OWN!.id,
          state: "running",
          image: "nginx:1.27",
          projectId: null,
          service: null,
        },
      ],
    });
    expect(answer.text).not.toContain(CANARY);
    expect(app.world.log.lines.map(({ text }) => text).join()).not.toContain(CANARY);
  });

  test("stores nothing but the check of the server, and takes one connection", async () => {
    const { app, connections, projects, scan, server } = await migrationScene();
    await scan();
    expect(await projects()).toEqual([]);
    expect(await server()).toMatchObject({ lastCheckedAt: app.world.clock.now().toISOString(), lastCheckError: null });
    expect(connections()).toBe(1);
  });

  test("says which compose files it could not read, and shows the rest", async () => {
    const { scan } = await migrationScene(machine({ files: new Map([[`${SHOP_FOLDER}/compose.yml`, null]]) }));
    const { stack } = (await scan()).body;
    expect(stack.warnings[0]).toBe("shop: cannot compare it with /srv/shop/compose.yml: the SSH user may not read it");
    expect(stack.composeProjects[0].services.map(({ drift, key }: typeof stack) => [key, drift])).toEqual([
      ["shop/db", []],
      ["shop/web", []],
    ]);
  });

  test("shows a server without containers, and one with many", async () => {
    const empty = await migrationScene(machine({ engine: inventoryOf([]) }));
    expect((await empty.scan()).body.stack).toMatchObject({ composeProjects: [], containers: [], warnings: [] });
    const containers = Array.from({ length: 300 }, (_, index) =>
      foundIn(`p${index % 30}`, `s${index}`, { name: `c${index}` }),
    );
    const many = await migrationScene(machine({ engine: inventoryOf(containers) }));
    expect((await many.scan()).body.stack.composeProjects).toHaveLength(30);
  });

  test("passes on hostile texts as they are, as JSON", async () => {
    const containers = oddTexts.map((text) =>
      found({ name: text, image: text, labels: { [text]: text }, environment: { [text]: text }, command: [text] }),
    );
    const { app, scan } = await migrationScene(machine({ engine: inventoryOf(containers) }));
    const answer = await scan();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toStartWith("application/json");
    const names = answer.body.stack.containers.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...oddTexts]);
    for (const { text } of app.world.log.lines) expect(text).not.toContain("DROP TABLE");
  });
});

describe("POST /api/migration/scan as events", () => {
  test("tells how far it is, and ends with the same result", async () => {
    const { scan } = await migrationScene();
    const plain = await scan();
    const answer = await scan(EVENTS);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const events = eventsIn(answer.text);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => `${index + 1}`));
    expect(events.slice(0, -1)).toMatchObject([
      { event: "progress", data: { message: "Connecting to Berlin" } },
      { event: "progress", data: { message: "Found 4 containers" } },
      { event: "progress", data: { message: "Reading the compose files of shop" } },
    ]);
    expect(events.at(-1)).toMatchObject({ event: "result", data: plain.body });
    expect(answer.text).not.toContain(CANARY);
  });

  test("ends with the problem that the response would have", async () => {
    const { scan, server } = await migrationScene(machine({ engine: "stopped" }));
    const plain = await scan();
    const answer = await scan(EVENTS);
    expect(answer.status).toBe(200);
    const events = eventsIn(answer.text);
    expect(events.at(-1)).toMatchObject({ event: "problem", data: plain.body });
    expect((await server()).lastCheckError).toBe(plain.body.error);
  });

  test("refuses a missing server and a missing permission by status", async () => {
    const { app, connections, scan } = await migrationScene();
    const missing = await scan({ ...EVENTS, body: { serverId: "srv_00000000000000000000000000" } });
    expect([missing.status, missing.headers.get("content-type")]).toEqual([404, expect.stringContaining("json")]);
    expect((await scan({ ...EVENTS, token: "slp_unknown" })).status).toBe(401);
    expect(connections()).toBe(0);
    expect(app.world.remoteHosts.openSessions).toBe(0);
  });

  test("ends the work when the client leaves", async () => {
    let signal: AbortSignal | undefined;
    const { app, id } = await migrationScene(machine({ manner: "silent" }), ({ serverConnections }) => ({
      serverConnections: intercepted(serverConnections, "open", (proceed, given) => {
        signal = (given[1] as { signal: AbortSignal }).signal;
        return proceed();
      }),
    }));
    const headers = {
      ...EVENTS.headers,
      authorization: `Bearer ${app.owner}`,
      "content-type": "application/json",
      host: "slipway.test",
    };
    const request = new Request("http://slipway.test/api/migration/scan", {
      method: "POST",
      headers,
      body: JSON.stringify({ serverId: id }),
    });
    const response = await app.handle(request, "127.0.0.1");
    const reader = response.body!.getReader();
    const isAborted = () =>
      eventually(
        async () => signal?.aborted,
        (aborted) => aborted !== undefined,
      );
    await reader.read();
    expect(await isAborted()).toBe(false);
    await reader.cancel();
    expect(await isAborted()).toBe(true);
  });
});
