import { describe, expect, test } from "bun:test";
import { currentRoutes, restoreReleases } from "../../../application/deployments/restore_releases.ts";
import { APP, commit, REPOSITORY, eventSummary } from "../../support/apps/engine_scene.ts";
import { EngineScene } from "../../support/apps/engine_scene.ts";
import {
  deployShop,
  digestOf,
  SHOP,
  shop,
  shopProject,
  shopScene,
  runningServices,
  statuses,
  versions,
} from "../../support/apps/service_scene.ts";
import { eventually } from "../../support/eventually.ts";

describe("a deployment of several services", () => {
  test("starts each after its dependencies, and routes visitors to the public ones", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const ready = await deployShop(scene, project, SHOP);
    expect([ready.status, ready.error]).toEqual(["ready", null]);
    expect(statuses(ready)).toEqual({
      web: "healthy",
      api: "healthy",
      worker: "healthy",
      migrate: "done",
      db: "healthy",
    });
    const order = scene.memory.runtime.started.map(({ service }) => service);
    const at = (name: string) => order.indexOf(name);
    expect(order).toHaveLength(5);
    expect([
      at("db") < at("migrate"),
      at("migrate") < at("worker"),
      at("migrate") < at("api"),
      at("api") < at("web"),
    ]).toEqual([true, true, true, true]);
    expect(ready.urls).toEqual([`http://${project.slug}.localhost:4480`, `http://${project.slug}.localhost:4480/api`]);
    expect(ready.services.map(({ url }) => url)).toEqual([ready.urls[0]!, ready.urls[1]!, null, null, null]);
    const { edge } = scene.memory;
    const { web, api } = await runningServices(scene, project);
    expect(edge.routeOf(`${project.slug}.localhost`, "/")?.servedBy).toBe(web!.instanceId);
    expect(edge.routeOf(`${project.slug}.localhost`, "/api/orders")?.servedBy).toBe(api!.instanceId);
    expect(eventSummary(await scene.events(ready.id)).slice(-4)).toContain("end ready");
  });

  test("needs no source, and reports on each service as it progresses", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const ready = await deployShop(scene, project, SHOP);
    expect(ready.source).toEqual({ kind: "none" });
    const events = eventSummary(await scene.events(ready.id));
    for (const name of Object.keys(SHOP)) {
      expect(
        events.filter((event) => event.startsWith(`service ${name} `)).map((event) => event.split(" ")[2]),
      ).toEqual(
        name === "migrate"
          ? ["building", "pending", "starting", "done"]
          : ["building", "pending", "starting", "healthy"],
      );
    }
  });

  test("leaves unchanged services alone, and replaces changed ones: public ones in parallel, others in place", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const before = await runningServices(scene, project);
    const again = await deployShop(scene, project, SHOP);
    expect([again.status, ...Object.values(statuses(again))]).toEqual([
      "ready",
      "unchanged",
      "unchanged",
      "unchanged",
      "unchanged",
      "unchanged",
    ]);
    expect(await runningServices(scene, project)).toEqual(before);
    const changed = await deployShop(scene, project, { ...SHOP, api: "2", worker: "2" });
    expect(statuses(changed)).toEqual({
      web: "unchanged",
      api: "healthy",
      worker: "healthy",
      migrate: "unchanged",
      db: "unchanged",
    });
    const after = await runningServices(scene, project);
    expect([after["web"], after["db"], after["migrate"]]).toEqual([before["web"], before["db"], before["migrate"]]);
    expect(await versions(scene, project)).toEqual({ ...SHOP, api: "2", worker: "2" });
    const started = scene.memory.runtime.started.slice(5);
    expect(started.map(({ service, unannounced = false }) => [service, unannounced]).sort()).toEqual([
      ["api", true],
      ["worker", false],
    ]);
  });

  test("replaces a service whose environment changed, and nothing else", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const services = shop(SHOP).map((service) =>
      service.name === "web" ? { ...service, environment: { A: "b" } } : service,
    );
    const changed = await scene.deployed(project, { services });
    expect(statuses(changed)).toEqual({
      web: "healthy",
      api: "unchanged",
      worker: "unchanged",
      migrate: "unchanged",
      db: "unchanged",
    });
  });

  test("stops a service that is not part of it any more", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const { worker: _, ...rest } = SHOP;
    const ready = await deployShop(scene, project, rest);
    expect(ready.status).toBe("ready");
    const left = async () => (await scene.memory.runtime.list()).map(({ service }) => service).sort();
    const lasting = await eventually(left, (services) => !services.includes("worker"));
    expect(lasting).toEqual(["api", "db", "migrate", "web"]);
  });

  test("keeps volumes in every case, and gives them to the project alone", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    await deployShop(scene, project, { ...SHOP, db: "2" });
    await deployShop(scene, project, { ...SHOP, db: "bad" });
    expect(await scene.memory.volumes.list(project.id)).toEqual([{ scope: project.id, name: "data" }]);
  });

  test("continues without the service whose image cannot be pulled", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const before = await runningServices(scene, project);
    const held = await deployShop(scene, project, { ...SHOP, api: "2", worker: "unknown" });
    expect([held.status, statuses(held)["worker"]]).toEqual(["partial_failure", "failed"]);
    const { api, ...others } = await runningServices(scene, project);
    expect(others).toEqual(Object.fromEntries(Object.entries(before).filter(([name]) => name !== "api")));
    expect(scene.memory.runtime.started.slice(5).map(({ instanceId }) => instanceId)).toEqual([api!.instanceId]);
  });

  test("fails, and leaves the former one serving, when no service comes up", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await scene.deployed(project, { services: [{ name: "web", image: "web:1", ports: [80] }], publicEndpoints: [] });
    const before = await runningServices(scene, project);
    const failed = await scene.deployed(project, {
      services: [{ name: "web", image: "web:bad", ports: [80] }],
      publicEndpoints: [],
    });
    expect([failed.status, failed.error?.code, failed.decision]).toEqual(["failed", "crash_loop", null]);
    expect(await runningServices(scene, project)).toEqual(before);
    expect(await scene.log(failed.id)).toContain("it went wrong");
  });

  test("fails when everything that came up has ended by itself: nothing serves", async () => {
    await using scene = await shopScene();
    const failed = await deployShop(scene, await shopProject(scene, { publicEndpoints: [] }), {
      migrate: "1",
      db: "bad",
    });
    expect(failed).toMatchObject({ status: "failed", decision: null });
    const services = [
      { name: "migrate", image: "migrate:1", oneShot: true },
      { name: "worker", image: "worker:bad" },
    ];
    const project = await shopProject(scene, { publicEndpoints: [] });
    const alone = await scene.deployed(project, { services });
    expect([alone.status, alone.decision, alone.error?.code]).toEqual(["failed", null, "crash_loop"]);
    expect((await scene.deployed(project, { services: services.slice(0, 1) })).status).toBe("ready");
  });

  test("returns to its record in a rollback, leaves unchanged services alone, and repeats no migration", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    await deployShop(scene, project, { ...SHOP, api: "2", migrate: "2" });
    const before = await runningServices(scene, project);
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
    expect([back.status, back.error]).toEqual(["ready", null]);
    expect(statuses(back)).toEqual({
      web: "unchanged",
      api: "healthy",
      worker: "unchanged",
      migrate: "done",
      db: "unchanged",
    });
    expect((await runningServices(scene, project))["web"]).toEqual(before["web"]!);
    expect((await versions(scene, project))["api"]).toBe("1");
    expect(scene.memory.runtime.started.filter(({ service }) => service === "migrate")).toHaveLength(2);
  });

  test("is redeployed with the services it was given", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    scene.memory.clock.advance(1_000);
    const again = await scene.settled((await scene.useCases.redeploy(scene.by, first.id, {})).id);
    expect(again.status).toBe("ready");
    expect(new Set(Object.values(statuses(again)))).toEqual(new Set(["unchanged"]));
  });

  test("is restored after a restart of the machine, dependencies first, and without its migration", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    for (const { instanceId } of await scene.memory.runtime.list()) await scene.memory.runtime.remove(instanceId);
    await restoreReleases(scene.world)();
    const order = scene.memory.runtime.started.slice(5).map(({ service }) => service);
    expect(order.toSorted()).toEqual(["api", "db", "web", "worker"]);
    expect(order.indexOf("db")).toBeLessThan(order.indexOf("worker"));
    expect(await currentRoutes(scene.world, { baseDomain: "localhost" })()).toHaveLength(2);
  });

  test("is deleted with everything that runs of it, including what a former deployment started", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    const second = await deployShop(scene, project, { ...SHOP, api: "2" });
    await scene.useCases.removeDeployment(scene.by, first.id);
    expect(Object.keys(await runningServices(scene, project)).sort()).toEqual([
      "api",
      "db",
      "migrate",
      "web",
      "worker",
    ]);
    await scene.useCases.removeDeployment(scene.by, second.id);
    expect(await scene.memory.runtime.list()).toEqual([]);
  });

  test("is listed, measured and restarted service by service", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const { id } = await deployShop(scene, project, SHOP);
    const { instances } = await scene.useCases.describeInstances(scene.by, id);
    expect(instances.map(({ service }) => service).sort()).toEqual(["api", "db", "migrate", "web", "worker"]);
    expect(await scene.useCases.restartInstances(scene.by, id)).toMatchObject({ restarted: 4 });
    const usage = await scene.useCases.measureInstances(scene.by, id);
    expect(usage.map(({ name }) => name)).toContain("db");
  });

  test("keeps a preview separate: with its own names, volumes and services", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const before = await runningServices(scene, project);
    const preview = await scene.deployed(project, { services: shop(SHOP), environment: "preview" });
    expect([preview.status, preview.error]).toEqual(["ready", null]);
    expect(new Set(scene.memory.runtime.started.slice(5).map(({ scope }) => scope))).toEqual(new Set([preview.id]));
    expect(await runningServices(scene, project)).toEqual(before);
    expect(await scene.memory.volumes.list(preview.id)).toHaveLength(1);
  });

  test("reserves the addresses of previews: future ones cannot be claimed", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const preview = await scene.deployed(project, { services: shop(SHOP), environment: "preview" });
    const label = new URL(preview.urls[0]!).hostname.replace(".localhost", "").replace("-v1-", "-v2-");
    expect(label).toContain("-v2-");
    const other = await shopProject(scene);
    const endpoints = { services: shop(SHOP), publicEndpoints: [{ service: "web", domain: label }] };
    await expect(scene.deploy(other, endpoints)).rejects.toMatchObject({ code: "hostname_taken" });
    const hostname = `${label}.localhost`;
    await expect(scene.useCases.claimDomain(scene.by, { projectId: other.id, hostname })).rejects.toMatchObject({
      code: "hostname_taken",
    });
    const named = await scene.useCases.createProject(scene.by, { name: label, slug: label, settings: {} });
    expect(named.hostname).not.toBe(hostname);
  });
});

describe("services of a source", () => {
  const COMPOSE = [
    "services:",
    "  web: { build: ./web, expose: ['8080'] }",
    "  db: { image: 'db:1', volumes: ['data:/data'] }",
    "volumes: { data: }",
  ].join("\n");
  const FILES = { "compose.yaml": COMPOSE, "web/Dockerfile": "FROM scratch", "web/page": "one" };

  test("are those of its compose file; a service built from unchanged files is not rebuilt", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", FILES)] };
    const project = await scene.project();
    const first = await scene.deployed(project);
    expect([first.status, first.error, statuses(first)]).toEqual(["ready", null, { web: "healthy", db: "healthy" }]);
    const second = await scene.deployed(project);
    expect(statuses(second)).toEqual({ web: "unchanged", db: "unchanged" });
    expect(scene.memory.imageBuilder.requests).toHaveLength(1);
    scene.known.git[REPOSITORY] = { commits: [commit("a2", { ...FILES, "web/page": "two" })] };
    const third = await scene.deployed(project);
    expect(statuses(third)).toEqual({ web: "healthy", db: "unchanged" });
    expect(scene.memory.imageBuilder.requests).toHaveLength(2);
  });

  test("with the same build are built once, and each keeps the image as its own", async () => {
    await using scene = await shopScene();
    const twice = "services: { web: { build: ./web, expose: ['8080'] }, worker: { build: ./web, command: work } }";
    scene.known.git[REPOSITORY] = { commits: [commit("a1", { ...FILES, "compose.yaml": twice })] };
    const project = await scene.project();
    const first = await scene.deployed(project);
    expect([first.status, statuses(first)]).toEqual(["ready", { web: "healthy", worker: "healthy" }]);
    expect(scene.memory.imageBuilder.requests).toHaveLength(1);
    const images = await Promise.all(["web", "worker"].map((name) => scene.memory.releaseImages.find(first.id, name)));
    expect(new Set(images.map((each) => each!.image)).size).toBe(1);
    expect(await scene.log(first.id)).toContain("worker is made from the same as web: it is built once for both");
    scene.memory.imageBuilder.services.set("web", { fails: { step: "RUN make", exitCode: 2 } });
    scene.known.git[REPOSITORY] = { commits: [commit("a2", { ...FILES, "compose.yaml": twice, "web/page": "two" })] };
    const second = await scene.deployed(project);
    expect([second.status, statuses(second)]).toEqual(["failed", { web: "failed", worker: "failed" }]);
  });

  test("fail with file, line and message when the compose file is wrong", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = {
      commits: [commit("a1", { "compose.yaml": "services:\n  web:\n    imagee: nginx\n" })],
    };
    const failed = await scene.deployed(await scene.project());
    expect([failed.status, failed.error?.code, failed.error?.step]).toEqual(["failed", "compose_invalid", "detect"]);
    expect(failed.error?.message).toContain("compose.yaml");
    expect(failed.error?.message).toContain("3");
  });

  test("run as processes if they need no image, and find each other by address", async () => {
    await using scene = await EngineScene.open();
    scene.known.git[REPOSITORY] = {
      commits: [commit("a1", { "web/package.json": APP["package.json"]!, "api/package.json": APP["package.json"]! })],
    };
    const project = await scene.project();
    const services = [
      { name: "web", rootDirectory: "web", startCommand: "serve web", dependsOn: ["api"] },
      { name: "api", rootDirectory: "api", startCommand: "serve api" },
    ];
    const ready = await scene.deployed(project, { services });
    expect([ready.status, ready.error, statuses(ready)]).toEqual(["ready", null, { web: "healthy", api: "healthy" }]);
    const [api, web] = scene.memory.runtime.started;
    expect([api!.service, web!.service]).toEqual(["api", "web"]);
    const { api: running } = await runningServices(scene, project);
    expect(web!.environment.get("API_URL")?.reveal()).toBe(`http://127.0.0.1:${running!.port}`);
  });

  test("that are processes are replaced in parallel, together with those that know their address", async () => {
    await using scene = await EngineScene.open();
    const files = {
      "web/package.json": APP["package.json"]!,
      "api/package.json": APP["package.json"]!,
      "api/page": "one",
    };
    scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
    const project = await scene.project();
    const services = [
      { name: "web", rootDirectory: "web", startCommand: "serve web", dependsOn: ["api"] },
      { name: "api", rootDirectory: "api", startCommand: "serve api" },
      { name: "jobs", rootDirectory: "web", startCommand: "work" },
    ];
    await scene.deployed(project, { services });
    const before = await runningServices(scene, project);
    const { runtime } = scene.memory;
    const removed: string[] = [];
    const remove = runtime.remove.bind(runtime);
    runtime.remove = (id) => (removed.push(id), remove(id));
    scene.known.git[REPOSITORY] = { commits: [commit("a2", { ...files, "api/page": "two" })] };
    const ready = await scene.deployed(project, { services });
    expect(statuses(ready)).toEqual({ web: "healthy", api: "healthy", jobs: "unchanged" });
    expect(removed).toEqual([]);
    expect((await runningServices(scene, project))["jobs"]).toEqual(before["jobs"]!);
  });

  test("that are processes are replaced when shared code or the build of one changed", async () => {
    await using scene = await shopScene({ engine: { runtime: "process" } });
    const files = {
      "package.json": JSON.stringify({ workspaces: ["web", "api", "shared"] }),
      "web/package.json": APP["package.json"]!,
      "api/package.json": APP["package.json"]!,
      "shared/package.json": JSON.stringify({ name: "shared" }),
      "shared/words.js": "one",
    };
    scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
    const project = await scene.project();
    const services = [
      { name: "web", rootDirectory: "web" },
      { name: "api", rootDirectory: "api" },
    ];
    expect((await scene.deployed(project, { services })).error).toBeNull();
    expect(statuses(await scene.deployed(project, { services }))).toEqual({ web: "unchanged", api: "unchanged" });
    scene.known.git[REPOSITORY] = { commits: [commit("a2", { ...files, "shared/words.js": "two" })] };
    expect(statuses(await scene.deployed(project, { services }))).toEqual({ web: "healthy", api: "healthy" });
    const [web, api] = services;
    const built = [{ ...web!, buildCommand: "make it otherwise" }, api!];
    expect(statuses(await scene.deployed(project, { services: built }))).toEqual({ web: "healthy", api: "unchanged" });
  });

  test("are refused as processes when one needs an image, before anything is started", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const failed = await scene.deployed(project, {
      services: [
        { name: "db", image: "db:1" },
        { name: "web", image: "web:1", ports: [80] },
      ],
    });
    expect([failed.status, failed.error?.code]).toEqual(["failed", "runtime_unsupported"]);
    expect(failed.error?.message).toContain("db");
    expect(scene.memory.runtime.started).toEqual([]);
  });

  test("are refused when one could swap what another mounts for a link out of the source, however they are described", async () => {
    await using scene = await shopScene();
    const project = await scene.project();
    const services = [
      { name: "web", image: "web:1", ports: [80], volumes: ["./public/files:/files:ro"] },
      { name: "worker", image: "worker:1", volumes: ["./public:/public"] },
    ];
    await expect(scene.deploy(project, { services })).rejects.toMatchObject({ code: "mount_inside_writable" });
  });

  test("are refused when one could swap a site for a link out of the source", async () => {
    await using scene = await shopScene();
    const compose = [
      "services:",
      "  site: { build: ./public/site }",
      "  worker: { image: 'worker:1', volumes: ['./public:/public'] }",
    ].join("\n");
    const files = { "compose.yaml": compose, "public/site/index.html": "<h1>hello</h1>" };
    scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
    const failed = await scene.deployed(await scene.project());
    expect([failed.status, failed.error?.code]).toEqual(["failed", "mount_inside_writable"]);
    expect(scene.memory.runtime.started).toEqual([]);
  });

  test("see the machine only where an admin allows it", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = {
      commits: [
        commit("a1", {
          "compose.yaml": "services:\n  web: { image: 'web:1', expose: [80], volumes: ['/srv/media:/media'] }\n",
        }),
      ],
    };
    const project = await scene.project();
    const refused = await scene.deployed(project);
    expect([refused.status, refused.error?.code]).toEqual(["failed", "host_access_forbidden"]);
    await scene.useCases.changeProject(scene.by, project.id, { settings: { hostPaths: ["/srv/media"] } });
    expect((await scene.deployed(project)).status).toBe("ready");
    const { runs } = scene.memory.runtime.started[0]!;
    expect(runs).toMatchObject({
      image: digestOf("web:1"),
      mounts: [{ kind: "path", path: "/srv/media", target: "/media" }],
    });
  });

  test("do not see in a rollback what is no longer allowed", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene, { publicEndpoints: [], hostPaths: ["/srv/media"] });
    const services = [{ name: "web", image: "web:1", ports: [80], volumes: ["/srv/media:/media"] }];
    const first = await scene.deployed(project, { services });
    const second = await scene.deployed(project, { services: [{ name: "web", image: "web:2", ports: [80] }] });
    expect([first.status, second.status]).toEqual(["ready", "ready"]);
    await scene.useCases.changeProject(scene.by, project.id, { settings: { hostPaths: [] } });
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
    expect([back.status, back.error?.code]).toEqual(["failed", "host_access_forbidden"]);
    expect(scene.memory.runtime.started).toHaveLength(2);
  });
});
