import { expect, test } from "bun:test";
import { TestProject } from "../support/apps/deploying.ts";
import { type DockerServer, dockerServer } from "../support/servers/docker_server.ts";
import { eventually } from "../support/eventually.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { folderText } from "../support/places_of_leaks.ts";
import { dump } from "../support/database/query.ts";
import { type Box, Shop, SHOP_SERVICES, type ShopService } from "../support/apps/shop.ts";
import { ShopLoad } from "../support/servers/shop_load.ts";
import { file } from "../support/inputs/tar_archive.ts";
import { TELLING_APP } from "../support/servers/telling_app.ts";

type Boxes = Readonly<Record<string, Box>>;

/**
 * The expectations after a step: the replaced services and the schema version, which equals the number of migrations
 * run.
 */
interface Step {
  readonly replaced: readonly ShopService[];
  readonly schema: number;
}

const UNCHANGED = Object.fromEntries(SHOP_SERVICES.map((name) => [name, "unchanged"]));
const BROKEN = { api: "two", web: "two", worker: "broken", schema: 2 } as const;

/** The shop, with its state after the last step. */
class WatchedShop {
  readonly shop: Shop;
  readonly #server: DockerServer;
  #boxes: Boxes = {};
  #volumes: readonly string[] = [];

  constructor(server: DockerServer, shop: Shop) {
    this.#server = server;
    this.shop = shop;
  }

  /**
   * Throws unless exactly these services have a new container since the last step, and all others the same container
   * with the same start time. The volume must also be the same.
   */
  async step({ replaced, schema }: Step): Promise<Boxes> {
    const [before, after] = [this.#boxes, await this.shop.boxes()];
    expect(Object.keys(after).sort()).toEqual([...SHOP_SERVICES]);
    const others = Object.entries(after).filter(([name, { id }]) => before[name]?.id !== id);
    expect(others.map(([name]) => name).sort()).toEqual([...replaced].sort());
    const rest = SHOP_SERVICES.filter((name) => !replaced.includes(name));
    expect(rest.map((name) => after[name])).toEqual(rest.map((name) => before[name]));
    expect(SHOP_SERVICES.filter((name) => after[name]!.running)).toEqual(["api", "db", "web", "worker"]);
    const volumes = await this.shop.volumes();
    if (this.#volumes.length > 0) expect(volumes).toEqual(this.#volumes);
    expect(volumes).toHaveLength(1);
    expect([await this.shop.stored("schema"), await this.shop.stored("migrations")]).toEqual([
      `${schema}`,
      `${schema}`,
    ]);
    this.#boxes = after;
    this.#volumes = volumes;
    return after;
  }

  /** The images of the project. */
  async images(): Promise<ReadonlySet<string>> {
    const label = `label=slipway.project=${this.shop.project.id}`;
    return new Set(await this.#server.docker("images", "--quiet", "--filter", label));
  }
}

test("a shop is changed, breaks, is kept, rejected and rolled back: no request fails, and only changed services are replaced", async () => {
  await using server = await dockerServer();
  const { slipway } = server;
  const shop = await Shop.open(server, "shop");
  const { project } = shop;
  const watched = new WatchedShop(server, shop);

  const first = await project.deployed(await shop.upload());
  const begun = { web: "healthy", api: "healthy", worker: "healthy", migrate: "done", db: "healthy" };
  expect(await shop.statuses(first)).toEqual(begun);
  const original = await watched.step({ replaced: SHOP_SERVICES, schema: 1 });
  const load = new ShopLoad({ port: slipway.edgePort, hostname: project.hostname }, "one");

  const images = await watched.images();
  const same = await project.deployed(await project.again(first, "redeploy", {}));
  expect(await shop.statuses(same)).toEqual(UNCHANGED);
  await watched.step({ replaced: [], schema: 1 });
  expect(await watched.images()).toEqual(images);

  load.allow("two");
  const changed = await project.deployed(await shop.upload({ api: "two" }));
  expect(await shop.statuses(changed)).toEqual({ ...UNCHANGED, api: "healthy" });
  await watched.step({ replaced: ["api"], schema: 1 });
  expect(load.version).toBe("two");

  await project.deployed(await shop.upload({ api: "two", schema: 2 }));
  const well = await watched.step({ replaced: ["migrate"], schema: 2 });

  const partial = await shop.upload(BROKEN);
  await expectPending(shop, partial);
  const held = await watched.step({ replaced: ["web", "worker"], schema: 2 });
  expect(held["worker"]!.image).toBe(well["worker"]!.image);
  expect(await project.page()).toContain("(web two): api two");
  await expectUndecided(shop, partial);
  const { lastSeq } = (await project.call("GET", `/api/deployments/${partial}/build`)).body.data;
  const kept = await project.call("POST", `/api/deployments/${partial}/keep`);
  const settled = { id: partial, status: "ready", decision: "kept", active: true, error: null };
  expect(kept.body).toMatchObject({ success: true, deployment: settled });
  await watched.step({ replaced: [], schema: 2 });
  const further = await Array.fromAsync(project.events(partial, lastSeq));
  expect(further.at(-1)).toMatchObject({ type: "end", status: "ready", decision: "kept", error: null });
  expect((await project.call("POST", `/api/deployments/${partial}/reject`)).status).toBe(400);

  load.allow("three");
  const again = await shop.upload({ ...BROKEN, api: "three" });
  expect((await shop.pending(again)).statuses).toEqual({ ...UNCHANGED, api: "healthy", worker: "failed" });
  const struck = await watched.step({ replaced: ["api", "worker"], schema: 2 });
  expect(struck["worker"]!.image).toBe(original["worker"]!.image);
  expect(load.version).toBe("three");

  load.allow("two");
  const rejected = await project.call("POST", `/api/deployments/${again}/reject`);
  expect(rejected.body).toMatchObject({
    success: true,
    restoredDeploymentId: partial,
    deployment: { id: again, status: "rejected", decision: "rejected", active: false },
  });
  const restored = await watched.step({ replaced: ["api"], schema: 2 });
  expect(restored["api"]!.image).toBe(held["api"]!.image);
  expect(await project.get(partial)).toMatchObject({ status: "ready", active: true });
  expect(load.version).toBe("two");

  load.allow("one");
  const back = await project.deployed(await project.again(first, "rollback"));
  expect(await project.get(back)).toMatchObject({ status: "ready", active: true, rollbackOf: first });
  // The first release has a different migration, which does not run again.
  const last = await watched.step({ replaced: ["api", "web"], schema: 2 });
  for (const name of ["api", "web", "worker", "db"]) expect(last[name]!.image).toBe(original[name]!.image);
  expect(load.version).toBe("one");

  const { pages, lists, orders, ...wrong } = await load.stop();
  expect(wrong).toEqual({ failures: [], wentBack: [], forgotten: [] });
  for (const count of [pages, lists]) expect(count).toBeGreaterThan(300);
  expect(orders).toBeGreaterThan(100);
  expect(await shop.stored("orders")).toBe(`${orders}`);
  await expectReadable(shop, back);
});

function isEmpty(boxes: Boxes): boolean {
  return Object.keys(boxes).length === 0;
}

/** Throws unless a deployment of the broken shop awaits a decision in all API responses. */
async function expectPending(shop: Shop, id: string): Promise<void> {
  const { project } = shop;
  const pending = await shop.pending(id);
  const address = `http://${project.hostname}:${project.slipway.edgePort}`;
  expect(pending).toMatchObject({
    decision: "pending",
    active: true,
    url: address,
    urls: [address, `${address}/api`],
    statuses: { ...UNCHANGED, web: "healthy", worker: "failed" },
    error: { code: "services_failed", message: expect.stringContaining("worker"), step: "health" },
  });
  const failed = pending.services.filter(({ error }: { readonly error: string | null }) => error !== null);
  expect(failed).toEqual([{ name: "worker", status: "failed", url: null, error: expect.stringContaining("worker") }]);
  const feed = await Array.fromAsync(project.events(id));
  expect(feed.map(({ seq }) => seq)).toEqual(feed.map((_, index) => index + 1));
  const end = { type: "end", status: "partial_failure", decision: "pending", error: pending.error };
  expect(feed.at(-1)).toMatchObject(end);
  const updates = feed.filter(({ type, name }) => type === "service" && name === "worker");
  expect(updates.at(-1)).toMatchObject({ status: "failed", error: expect.stringContaining("worker") });
  expect(await project.log(id)).toContain("no worker today");
  const owner = await project.call("GET", `/api/projects/${project.id}`);
  expect(owner.body.data.activeDeploymentId).toBe(id);
}

/** Throws unless later deployments wait for the decision about this one, which can be neither cancelled nor deleted. */
async function expectUndecided(shop: Shop, id: string): Promise<void> {
  const { project } = shop;
  const later = await shop.upload(BROKEN);
  expect(await project.get(later)).toMatchObject({ status: "queued", waitingFor: id });
  expect((await project.call("POST", `/api/deployments/${id}/cancel`)).status).toBe(400);
  expect((await project.call("DELETE", `/api/deployments/${id}`)).status).toBe(400);
  expect((await project.call("POST", `/api/deployments/${later}/keep`)).status).toBe(400);
  expect(await project.get(later)).toMatchObject({ status: "queued", waitingFor: id });
  expect((await project.call("POST", `/api/deployments/${later}/cancel`)).status).toBe(200);
  expect(await project.get(id)).toMatchObject({ status: "partial_failure", decision: "pending" });
}

/** Throws unless info, usage, logs and restart work for the running services. */
async function expectReadable(shop: Shop, id: string): Promise<void> {
  const { project } = shop;
  const read = async (path: string) => (await project.call("GET", `/api/deployments/${id}/${path}`)).body.data;
  const before = await shop.boxes();
  const { runtime, services } = await read("info");
  expect(runtime).toBe("docker");
  const shown = services.map(({ name, containerId }: Record<string, string>) => [name, containerId]);
  const running = Object.entries(before).map(([name, box]) => [name, box.running ? box.id : null]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(running));
  const usage = await read("usage");
  expect(usage.memoryBytes).toBeGreaterThan(1_000_000);
  expect(usage.services.map(({ name }: { readonly name: string }) => name)).toEqual(
    expect.arrayContaining(["api", "db", "web", "worker"]),
  );
  const printed = await read("logs?kind=runtime&service=api");
  expect(printed.map(({ message }: { readonly message: string }) => message)).toContain("api one listens on 3000");
  const lines: { readonly service: string }[] = await read("logs?service=api");
  expect(new Set(lines.map(({ service }) => service))).toEqual(new Set(lines.length > 0 ? ["api"] : []));
  const restarted = await project.call("POST", `/api/deployments/${id}/restart`);
  expect(restarted.body).toMatchObject({ success: true, message: "Restarted 4 services" });
  const after = await shop.boxes();
  for (const name of SHOP_SERVICES) {
    expect(after[name]!.id).toBe(before[name]!.id);
    if (name === "migrate") expect(after[name]).toEqual(before[name]);
    else expect(after[name]!.startedAt > before[name]!.startedAt).toBe(true);
  }
  const page = () => project.page().catch(String);
  expect(await eventually(page, (text) => text.includes("api one"))).toContain("(web one): api one, schema 2");
}

test("a first deployment that fails in part is rejected, and a decision survives its server", async () => {
  await using server = await dockerServer();
  const { slipway } = server;
  const shop = await Shop.open(server, "half-shop");
  const { project } = shop;

  const half = await shop.upload({ api: "broken" });
  const came = { db: "healthy", migrate: "done", worker: "healthy", api: "failed", web: "failed" };
  expect((await shop.pending(half)).statuses).toEqual(came);
  expect(Object.keys(await shop.boxes()).sort()).toEqual(["db", "migrate", "worker"]);
  for (const path of ["/", "/api/orders"]) expect(await project.page(path)).toContain("no_release");
  const volumes = await shop.volumes();
  expect(volumes).toHaveLength(1);
  const rejected = await project.call("POST", `/api/deployments/${half}/reject`);
  expect(rejected.body).toMatchObject({
    restoredDeploymentId: null,
    deployment: { status: "rejected", active: false },
  });
  expect(await eventually(() => shop.boxes(), isEmpty)).toEqual({});
  expect(await shop.volumes()).toEqual(volumes);

  await project.deployed(await shop.upload());
  expect(await shop.stored("migrations")).toBe("2");
  const former = await shop.boxes();
  const partial = await shop.upload({ web: "two", worker: "unbuildable" });
  const { services, statuses } = await shop.pending(partial);
  expect(statuses).toMatchObject({ web: "healthy", worker: "failed" });
  expect(services.find(({ name }: { name: string }) => name === "worker").error).toContain("RUN exit 7");
  const before = await shop.boxes();
  expect(before["worker"]).toEqual(former["worker"]!);
  await slipway.kill();
  await slipway.start();
  expect(await project.get(partial)).toMatchObject({ status: "partial_failure", decision: "pending", active: true });
  expect(await project.page()).toContain("(web two): api one");
  expect(await project.page("/api/orders")).toStartWith("api one");
  expect(await shop.boxes()).toEqual(before);
  const later = await shop.upload({ web: "two", api: "two" });
  expect(await project.get(later)).toMatchObject({ status: "queued", waitingFor: partial });
  const kept = await project.call("POST", `/api/deployments/${partial}/keep`);
  expect(kept.body.deployment).toMatchObject({ status: "ready", decision: "kept" });
  await project.deployed(later);
  expect(await project.page()).toContain("(web two): api two");
  expect(await shop.volumes()).toEqual(volumes);
});

test("variables that a compose file takes from the project are in no response, log, event, table, file or image", async () => {
  await using server = await dockerServer({ LOG_LEVEL: "debug" });
  const { docker, slipway } = server;
  const secrets = { SHOP_KEY: `k_${crypto.randomUUID()}_${crypto.randomUUID()}` };
  const project = await TestProject.create(slipway, { name: "variable-shop", publicEndpoints: [{ service: "web" }] });
  const upserts = Object.entries(secrets).map(([key, value]) => ({ key, value, secret: true }));
  await project.call("PATCH", `/api/projects/${project.id}/env`, { body: { upserts } });
  const files = Object.entries(TELLING_APP).map(([name, content]) => file(name, content));
  const { id } = await project.upload(files);
  expect(await project.settled(id)).toMatchObject({ status: "partial_failure", decision: "pending" });
  const known = `${secrets.SHOP_KEY}redis://shop:${secrets.SHOP_KEY}@db/0`;
  expect(await project.page()).toBe(`${Buffer.from(known).reduce((sum, byte) => sum + byte, 0)}`);

  const seen: string[] = [];
  const paths = ["", "/build", "/info", "/usage", "/logs", "/logs?kind=runtime", "/logs?kind=runtime&service=web"];
  for (const path of paths) seen.push((await project.call("GET", `/api/deployments/${id}${path}`)).text);
  seen.push(await project.log(id), await project.log(id, "runtime"));
  seen.push((await project.call("POST", `/api/deployments/${id}/keep`)).text);
  seen.push(JSON.stringify(await Array.fromAsync(project.events(id))));
  for (const path of ["/api/deployments", `/api/projects/${project.id}`, `/api/projects/${project.id}/env`])
    seen.push((await project.call("GET", path)).text);
  expect(seen.join("\n")).toContain("it is [secret]");
  expect(seen.join("\n")).toContain("given [secret] at redis://shop:[secret]@db/0");
  seen.push(await dump(server.databaseUrl), await folderText(slipway.folder));
  const images = await docker("images", "--quiet", "--filter", `label=slipway.project=${project.id}`);
  expect(images).not.toEqual([]);
  for (const image of images) seen.push((await docker("history", "--no-trunc", image)).join("\n"));
  seen.push((await docker("image", "inspect", ...images)).join("\n"));
  const { stdout, stderr } = await slipway.stop();
  expect(stderr).toContain('"request"');
  expectHidden([...seen, stdout, stderr].join("\n"), secrets);
});
