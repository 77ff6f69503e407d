import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { HAND_RUN, ODD_VALUE, runByHand } from "../support/apps/hand_run_server.ts";
import { Migrating } from "../support/apps/migrating.ts";
import { eventually } from "../support/eventually.ts";
import { HAND_RUN_STACK } from "../support/inputs/hand_run_stack.ts";
import { type ManagedServer, startManagedServer } from "../support/peers/managed_server.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

const FOLDERS = ["/srv", "/root", "/home", "/etc"];

let server: ManagedServer;
let slipway: SlipwayProcess;
let migrating: Migrating;
beforeAll(async () => {
  [server, slipway] = await Promise.all([startManagedServer(), SlipwayProcess.start()]);
  await server.loadTinyImage();
  await runByHand(server);
  migrating = await Migrating.of(slipway, server, { user: "worker" });
});
afterAll(async () => {
  await slipway?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** Everything on the server that scanning or adopting could change: files, containers, images, volumes, networks. */
async function stateOf(): Promise<Record<string, string>> {
  const containers = (await server.docker(["ps", "--all", "--quiet", "--no-trunc"])).split("\n").toSorted();
  const facts = "{{.Id}} {{.Name}} {{.State.Status}} {{.State.StartedAt}} {{.RestartCount}} {{json .NetworkSettings}}";
  return {
    files: await server.exec(["find", ...FOLDERS, "-printf", "%p %T@ %C@ %m %u %s\n"]),
    containers: await server.docker(["inspect", "--format", facts, ...containers]),
    images: await server.docker(["images", "--all", "--no-trunc"]),
    volumes: await server.docker(["volume", "ls"]),
    networks: await server.docker(["network", "ls", "--no-trunc"]),
  };
}

/** Events of the server's engine while something is done. */
async function eventsDuring<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly events: string }> {
  const now = async () => (await server.exec(["date", "+%s.%N"])).trim();
  const since = await now();
  const result = await work();
  const events = await server.docker(["events", "--since", since, "--until", await now()]);
  return { result, events };
}

const visit = () => fetch(`http://${server.address}:8080/`, { keepalive: false, signal: AbortSignal.timeout(10_000) });

/** Visits an app of the server until disposed, and collects the failures. */
function visits(): AsyncDisposable & { readonly failures: unknown[]; readonly count: () => number } {
  const failures: unknown[] = [];
  const over = new AbortController();
  let count = 0;
  const visiting = (async () => {
    for (; !over.signal.aborted; await Bun.sleep(5)) {
      const text = await visit().then(
        (answer) => answer.text(),
        (error: unknown) => error,
      );
      if (text === "costs $5\n") count++;
      else failures.push(text);
    }
  })();
  return {
    failures,
    count: () => count,
    async [Symbol.asyncDispose]() {
      over.abort();
      await visiting;
    },
  };
}

// A container belongs to one project at a time.
afterEach(async () => {
  const { body } = await migrating.call("GET", "/api/projects?perPage=100");
  for (const { id } of body.data) await migrating.call("DELETE", `/api/projects/${id}`);
});

/** Tries to adopt a service; resolves to the status and why it is refused. */
async function refusal(name: string): Promise<readonly [number, string]> {
  const { body, status } = await migrating.adopt(`Refused ${name}`, [name]);
  return [status, body.details[0].message];
}

/** Replaces the ids that engines make up by what they stand for. */
async function normalised(text: string): Promise<string> {
  const names = await server.docker(["ps", "--all", "--no-trunc", "--format", "{{.ID}} {{.Names}}"]);
  const image = await server.docker(["image", "inspect", "--format", "{{.Id}}", "tiny"]);
  const known = names.split("\n").map((line) => line.split(" ") as [string, string]);
  const replaced = known.reduce((all, [id, name]) => all.replaceAll(id, `<${name}>`), text.replaceAll(image, "<tiny>"));
  return replaced.replaceAll(/"[0-9a-f]{64}/g, '"<unnamed>');
}

describe("POST /api/migration/scan", () => {
  test("lists everything that runs on a server, compared with its compose files", async () => {
    const { status, text } = await migrating.scan();
    expect(status).toBe(200);
    const { serverId, scannedAt, runtime, ...stack } = JSON.parse(await normalised(text)).stack;
    expect(stack).toEqual(HAND_RUN_STACK);
    expect({ serverId, runtime }).toEqual({
      serverId: migrating.serverId,
      runtime: { name: "docker", version: await server.docker(["version", "--format", "{{.Server.Version}}"]) },
    });
    expect(Math.abs(Date.parse(scannedAt) - Date.now())).toBeLessThan(600_000);
  });

  test("records the host key of a server that was never checked", async () => {
    const fresh = await Migrating.of(slipway, server, { user: "worker" });
    expect((await fresh.scan()).status).toBe(200);
    const { body } = await fresh.call("GET", `/api/servers/${fresh.serverId}`);
    expect(body.data).toMatchObject({ hostKey: server.hostKey });
  });

  test("reads files that only root may read, as root", async () => {
    const { body } = await (await Migrating.of(slipway, server)).scan();
    const { services } = body.stack.composeProjects.find(({ name }: { name: string }) => name === "locked");
    expect(services[0].drift).toEqual([
      'command: ["serve","--token","***"] runs, the compose files say otherwise',
      "environment: not set in the container: NEVER",
    ]);
  });
});

describe("scanning and adopting", () => {
  test("change nothing on the server, and no visitor of its apps notices", async () => {
    await eventually(visit, ({ ok }) => ok);
    const control = await eventsDuring(() => server.docker(["network", "create", "noticed"]));
    expect(control.events).toContain("network create");
    await server.docker(["network", "rm", "noticed"]);
    const before = await stateOf();
    const during = visits();
    const { events, result } = await eventsDuring(async () => {
      await using _ = during;
      await eventually(
        async () => during.count(),
        (count) => count > 0,
      );
      const scanned = await migrating.scan();
      const adopted = await migrating.adopt("Untouched", ["shop/web", "shop/worker", "db", "mailer", "hand"]);
      return [scanned.status, adopted.status];
    });
    expect(result).toEqual([200, 200]);
    expect(events).toBe("");
    expect(await stateOf()).toEqual(before);
    expect(during.failures).toEqual([]);
  });
});

describe("POST /api/migration/adopt", () => {
  test("creates a project of one service for each container, with the environment of each", async () => {
    const keys = ["shop/web", "shop/worker", "db", "blog/web", "locked/keeper", "hand"];
    const { body, status, text } = await migrating.adopt("Whole shop", keys);
    expect(status).toBe(200);
    const { adopted, services, warnings } = JSON.parse(await normalised(text));
    expect(adopted.map(({ containerId, key, service }: never) => [service, key, containerId])).toEqual([
      ["shop-web", "shop/web", "<shop-web-1>"],
      ["worker", "shop/worker", "<shop-worker-1>"],
      ["worker-2", "shop/worker", "<shop-worker-2>"],
      ["db", "shop/db", "<shop-db-1>"],
      ["blog-web", "blog/web", `<${HAND_RUN.blog.containerName}>`],
      ["keeper", "locked/keeper", "<locked-keeper-1>"],
      ["hand", "hand", "<hand>"],
    ]);
    expect(services.find(({ name }: never) => name === "db")).toEqual({
      name: "db",
      image: "<tiny>",
      volumes: ["shop_data:/data", "/srv/shop/db/init:/init:ro"],
      restart: "no",
    });
    expect(services.find(({ name }: never) => name === "hand")).toEqual({
      name: "hand",
      image: "<tiny>",
      ports: ["127.0.0.1:5353:53/udp", "9000"],
      volumes: ["<unnamed>:/cache", "notes:/notes:ro"],
      restart: "no",
    });
    for (const warning of [
      "shop-web-1 becomes the service shop-web of the project",
      "shop-worker-2 becomes the service worker-2 of the project",
      "blog-front becomes the service blog-web of the project",
      "locked/keeper: its command contains what looks like a secret, so it is kept encrypted",
    ]) {
      expect(warnings).toContain(warning);
    }
    for (const secret of ["hunter2", "s3cr3t", '"abc"']) expect(text).not.toContain(secret);
    const variables = await migrating.call("GET", `/api/projects/${body.project_id}/env`);
    expect(variables.body.data.map(({ key, secret, value }: never) => [key, secret, value])).toEqual([
      ["db/DB_PASSWORD", true, null],
      ["hand/API_KEY", true, null],
      ["hand/EMPTY", false, ""],
      ["hand/ODD", false, ODD_VALUE],
      ["shop-web/GREETING", false, "costs $5"],
      ["shop-web/PRICE", false, "5$"],
      ["shop-web/STAGE", false, "production"],
      ["worker-2/QUEUE", false, "fast"],
      ["worker/QUEUE", false, "fast"],
    ]);
  });

  test("refuses a name that two services have, one that none has, and one without a container", async () => {
    expect(await refusal("web")).toEqual([400, "use one of blog/web, shop/web"]);
    expect(await refusal("shop/wep")).toEqual([400, expect.stringContaining('did you mean "shop/web"?')]);
    expect(await refusal("ghost")).toEqual([400, expect.stringContaining("there is no container of this service")]);
    expect(await refusal("panel")).toEqual([400, expect.stringContaining("Slipway started this container")]);
  });

  test("refuses the name of a project that exists", async () => {
    expect((await migrating.adopt("Taken", ["hand"])).status).toBe(200);
    const { body, status } = await migrating.adopt("Taken", ["hand"]);
    expect([status, body.code]).toEqual([409, "name_taken"]);
  });
});
