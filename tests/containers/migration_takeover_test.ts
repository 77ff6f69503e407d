import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AdoptedShop } from "../support/apps/adopted_shop.ts";
import { answering, handMadeShop } from "../support/apps/hand_made_shop.ts";
import { sameContainer } from "../support/apps/same_container.ts";
import { type KnownServer, type Migrating, migrating } from "../support/apps/taken_over.ts";
import { eventually } from "../support/eventually.ts";

const BROKEN = { command: ["sh", "-c", "exit 3"] };
const REPAIRED = { command: ["sh", "-c", answering("/data")] };

let world: Migrating;
let server: KnownServer;
beforeAll(async () => {
  world = await migrating(1);
  [server] = world.servers as [KnownServer];
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** Requests a page again and again until aborted; resolves to the number of visits and what was not as expected. */
async function visits(url: string, expected: string, signal: AbortSignal) {
  const failures: unknown[] = [];
  let count = 0;
  for (; !signal.aborted || count < 10; await Bun.sleep(20)) {
    const answer = await fetch(url, { keepalive: false }).then(
      (response) => response.text(),
      (error: unknown) => error,
    );
    count++;
    if (answer !== expected) failures.push(answer);
  }
  return failures;
}

describe("the first deployment of an adopted project", () => {
  test("keeps every container as it is, without a failed request", async () => {
    const made = await handMadeShop(server);
    const left = new AbortController();
    const visited = visits(`http://${server.machine.address}:${made.port}/`, "blue\n", left.signal);
    const { web, api, db } = made.containers;
    const before = await server.untouched(web, api, db);
    const { project } = await server.adopt(made.name, made.keys);
    const shop = new AdoptedShop(server, made, project);
    const first = await project.deployed();
    const unchanged = { web: "unchanged", api: "unchanged", db: "unchanged" };
    expect(await shop.statuses(first)).toEqual(unchanged);
    expect(await shop.originals()).toEqual(before);
    expect(await shop.statuses(await project.deployed())).toEqual(unchanged);
    left.abort();
    expect(await visited).toEqual([]);
    expect(await shop.originals()).toEqual(before);
    expect(await server.own(project)).toEqual([]);
  });

  test.each([
    ["web", "COLOR"],
    ["db", "PASSWORD"],
  ] as const)("replaces only %s if its variable was changed, with the same settings and data", async (name, key) => {
    const shop = await AdoptedShop.of(server);
    const [original] = await server.inspect(shop.shop.containers[name]);
    const untouched = await shop.originals();
    await shop.setVariable(`${name}/${key}`, "green");
    const id = await shop.project.deployed();
    const others = { web: "unchanged", api: "unchanged", db: "unchanged" };
    expect(await shop.statuses(id)).toEqual({ ...others, [name]: "healthy" });
    const [replacement, ...more] = await server.own(shop.project);
    expect(more).toEqual([]);
    const { config, ...rest } = sameContainer(replacement);
    const { config: before, ...same } = sameContainer(original);
    expect(rest).toEqual(same);
    expect({ ...config, Env: [] }).toEqual({ ...before, Env: [] });
    expect(config.Env).toContain(`${key}=green`);
    const isOther = ({ id: container }: { readonly id: string }) => container !== original.Id;
    const after = await shop.originals();
    expect(after.filter(isOther)).toEqual(untouched.filter(isOther));
    expect(after.find((each) => !isOther(each))).toMatchObject({ status: "exited", policy: "no" });
    expect(await shop.page(shop.shop.port)).toBe(name === "web" ? "green" : "blue");
    if (name === "db") {
      const data = ["cat", "/var/lib/db/table", "/scratch/note"];
      expect(await server.docker("exec", replacement.Id, ...data)).toBe("rows\nrows\nkept\nkept");
    }
  });

  test("that fails starts the original again, and leaves nothing of its own", async () => {
    const shop = await AdoptedShop.of(server, ["api"]);
    const before = await shop.originals();
    await shop.redefine("api", BROKEN);
    const { status } = await shop.project.settled(await shop.project.deploy());
    expect(status).toBe("failed");
    const after = await shop.originals();
    expect(after[1]).toEqual({ ...before[1]!, startedAt: after[1]!.startedAt });
    expect(await server.own(shop.project)).toEqual([]);
    expect(await shop.page(shop.shop.apiPort)).toBe("files");
    const scope = `label=slipway.scope=${shop.project.id}`;
    expect(await server.docker("network", "ls", "--quiet", "--filter", scope)).toBe("");
    await shop.redefine("api", REPAIRED);
    expect(await shop.statuses(await shop.project.deployed())).toEqual({ api: "healthy" });
    expect(await shop.running("api")).toEqual({ adopted: 0, own: 1 });
    expect(await shop.page(shop.shop.apiPort)).toBe("files");
  });
});

/** A shop whose first deployment has replaced `web`, failed to replace `api`, and waits for a decision. */
async function partlyFailed() {
  const shop = await AdoptedShop.of(server);
  await shop.setVariable("web/COLOR", "green");
  await shop.redefine("api", BROKEN);
  const id = await shop.project.deploy();
  expect(await shop.project.settled(id)).toMatchObject({ status: "partial_failure", decision: "pending" });
  expect(await shop.statuses(id)).toEqual({ web: "healthy", api: "failed", db: "unchanged" });
  expect(await shop.running("api")).toEqual({ adopted: 1, own: 0 });
  return { shop, id };
}

async function decide({ project }: AdoptedShop, id: string, what: "keep" | "reject"): Promise<void> {
  const answer = await project.call("POST", `/api/deployments/${id}/${what}`);
  if (answer.status >= 300) throw new Error(answer.text);
  await eventually(
    () => project.get(id),
    ({ decision, status }) => decision !== "pending" && status !== "partial_failure",
  );
}

describe("a partial failure of the first deployment", () => {
  test("that is rejected leaves every original running, and nothing else", async () => {
    const { shop, id } = await partlyFailed();
    await decide(shop, id, "reject");
    const own = await eventually(
      () => server.own(shop.project),
      ({ length }) => length === 0,
    );
    expect(own).toEqual([]);
    const originals = (await shop.originals()).map(({ status, policy }) => `${status} ${policy}`);
    expect(originals).toEqual(["running always", "running unless-stopped", "running on-failure"]);
    expect(await shop.page(shop.shop.port)).toBe("blue");
  });

  test("that is kept runs each service once, also after the next deployment", async () => {
    const { shop, id } = await partlyFailed();
    await decide(shop, id, "keep");
    const [web, api] = await shop.originals();
    expect(web).toMatchObject({ status: "exited", policy: "no" });
    expect(api).toMatchObject({ status: "running", policy: "unless-stopped" });
    await shop.redefine("api", REPAIRED);
    const next = await shop.project.deployed();
    expect(await shop.statuses(next)).toEqual({ web: "unchanged", api: "healthy", db: "unchanged" });
    expect(await shop.running("api")).toEqual({ adopted: 0, own: 1 });
    expect(await shop.page(shop.shop.apiPort)).toBe("files");
  });
});

describe("a first deployment whose server is killed", () => {
  test.each(["start", "health", "switch"])("at the step %s runs each service exactly once afterwards", async (step) => {
    const shop = await AdoptedShop.of(server);
    await shop.setVariable("web/COLOR", "green");
    const [, ...others] = await shop.originals();
    const id = await shop.project.deploy();
    await shop.project.reached(id, step);
    await world.slipway.kill();
    await world.slipway.start();
    const { status } = await shop.project.settled(id);
    const isDone = status === "ready";
    expect(await shop.running("web")).toEqual(isDone ? { adopted: 0, own: 1 } : { adopted: 1, own: 0 });
    expect((await shop.originals()).slice(1)).toEqual(others);
    expect(await shop.page(shop.shop.port)).toBe(isDone ? "green" : "blue");
  });
});
