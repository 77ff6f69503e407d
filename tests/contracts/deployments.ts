import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../domain/deployments/deployment_event.ts";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import type { DeploymentChange, DeploymentFilter, QueuePosition } from "../../ports/deployments/deployments.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import {
  aDeployment,
  anOrganization,
  aProject,
  deploymentOf,
  logLine,
  minutes,
} from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };
const NONE = { environment: new Map<string, Secret>(), events: [] };
const STATUS: NewEvent = { type: "status", status: "building", decision: null };

/** Every field set, with texts that break faulty quoting or parsing. */
const FULL: Omit<Deployment, "id" | "organizationId" | "projectId" | "version" | "createdAt"> = {
  status: "deploying",
  decision: "kept",
  pendingDecision: "reject",
  replaces: "dep_5",
  pinned: true,
  trigger: "rollback",
  environment: "preview",
  source: { kind: "artifact", deploymentId: "dep_1", fallback: { kind: "local", path: '/srv/it\'s "here"' } },
  plan: {
    framework: "next",
    packageManager: "bun",
    installCommand: oddTexts.join(" && "),
    buildCommand: "",
    startCommand: "x".repeat(50_000),
    outputDirectory: "dist",
    dockerfile: "docker/Dockerfile",
    buildTarget: "production",
    buildArgs: { EDITION: "full" },
    rootDirectory: "apps/shop",
    port: 3_000,
    projectType: "app",
    healthPath: "/health",
    runtime: "process",
    publicEndpoints: [{ port: 80, domainType: "free" }],
  },
  branch: "feature/ü-🚀",
  commitSha: "0123456789abcdef",
  commitMessage: oddTexts.join("\n"),
  framework: "next",
  urls: ["http://shop.localhost", "https://shop.example.com"],
  services: [{ name: "app", status: "healthy", url: "http://x", error: null, instanceId: "i-1", site: "dist" }],
  steps: [{ name: "build", status: "running", startedAt: minutes(3), durationMs: null }],
  prompt: {
    promptId: "p1",
    title: "Go on?",
    message: "Really?",
    actions: [{ id: "approve", label: "Approve" }],
    expiresAt: minutes(9),
    answer: null,
  },
  own: { services: true, publicEndpoints: [{ domain: "front", port: "80" }, { service: "api" }] },
  requireApproval: true,
  waitingFor: "dep_2",
  error: { code: "build_failed", message: oddTexts[5]!, step: "build" },
  held: true,
  cancelRequested: true,
  attempts: 7,
  secretKeys: ["API_KEY"],
  artifactOf: "dep_1",
  artifactAvailable: true,
  image: "sha256:0123",
  buildTag: "tag",
  rollbackOf: "dep_3",
  redeployOf: "dep_4",
  queuedAt: minutes(1),
  startedAt: minutes(2),
  builtAt: minutes(4),
  finishedAt: minutes(5),
};

function renamed(branch: string, ...events: NewEvent[]) {
  return (deployment: Deployment): DeploymentChange => ({ deployment: { ...deployment, branch }, events });
}

function longer(deployment: Deployment): DeploymentChange {
  const { urls } = deployment;
  return { deployment: { ...deployment, urls: [...urls, "x"] }, events: [logLine(`${urls.length}`), logLine("and")] };
}

function moved(status: Deployment["status"]) {
  return (deployment: Deployment): DeploymentChange => ({ deployment: { ...deployment, status }, events: [] });
}

/** Contract tests for `Deployments` adapters. */
export function deploymentsContract(
  name: string,
  open: () => Promise<
    WorldOf<"deployments" | "deploymentEvents" | "installation" | "organizations" | "projects" | "elsewhere">
  >,
) {
  describe(`Deployments contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function place() {
      const { id: organizationId } = await anOrganization(world());
      const { id: projectId } = await aProject(world(), { organizationId });
      return { organizationId, projectId };
    }

    async function types(id: string): Promise<string[]> {
      const events = await world().deploymentEvents.read(id, { since: 0, limit: 100 });
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      return events.map(({ type }) => type);
    }

    test("create(), find() and get() return a deployment with every field", async () => {
      const at = await place();
      const made = deploymentOf({ ...at, ...FULL });
      const created = await world().deployments.create(made, NONE);
      expect(created).toEqual({ ...made, version: 1 });
      expect(await world().deployments.find(at.organizationId, made.id)).toEqual(created);
      expect(await world().deployments.get(made.id)).toEqual(created);
      expect(await world().deployments.ofProject(at.projectId)).toEqual([created]);
    });

    test("create() stores the first events", async () => {
      const { id } = await aDeployment(world(), {}, [STATUS, logLine("Queued")]);
      expect(await types(id)).toEqual(["status", "log"]);
      expect(await world().deploymentEvents.last(id)).toBe(2);
    });

    test("create() counts versions up within the project, even after the newest was removed", async () => {
      const [one, other] = [await place(), await place()];
      expect((await aDeployment(world(), one)).version).toBe(1);
      const second = await aDeployment(world(), one);
      expect(second.version).toBe(2);
      expect((await aDeployment(world(), other)).version).toBe(1);
      await world().deployments.remove(one.organizationId, second.id);
      expect((await aDeployment(world(), one)).version).toBe(3);
    });

    test("concurrent create() calls in two processes assign every version once", async () => {
      const at = await place();
      const { deployments, elsewhere } = world();
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? deployments : elsewhere.deployments).create(deploymentOf(at), NONE),
        ),
      );
      const versions = made.map(({ version }) => version).toSorted((a, b) => a - b);
      expect(versions).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    });

    test("create() for an unknown project, or one of another organization, is refused and stores nothing", async () => {
      const [one, other] = [await place(), await place()];
      for (const at of [
        { ...one, projectId: newId("prj") },
        { ...one, projectId: other.projectId },
      ]) {
        const made = deploymentOf(at);
        await expect(world().deployments.create(made, NONE)).rejects.toMatchObject({ kind: "not_found" });
        expect(await world().deployments.get(made.id)).toBeUndefined();
      }
      expect((await aDeployment(world(), other)).version).toBe(1);
    });

    test("environment() returns every value unchanged, in order, as a secret", async () => {
      const at = await place();
      const texts = [...oddTexts, "", "a\0b", "x".repeat(100_000)];
      const entries = texts.map((text, index) => [`KEY_${texts.length - index}`, text] as const);
      const environment = new Map(entries.map(([key, text]) => [key, new Secret(text)]));
      const { id } = await world().deployments.create(deploymentOf(at), { environment, events: [] });
      const stored = await world().deployments.environment(id);
      expect([...stored].map(([key, value]) => [key, value.reveal()])).toEqual(entries.map((entry) => [...entry]));
      expect(Bun.inspect(stored)).not.toContain("DROP TABLE");
    });

    test("change() replaces an environment in every process, or leaves it unchanged", async () => {
      const at = await place();
      const first = new Map([["A", new Secret("first")]]);
      const { id } = await world().deployments.create(deploymentOf(at), { environment: first, events: [] });
      const known = async () =>
        Array.from(await world().elsewhere.deployments.environment(id), ([key, value]) => [key, value.reveal()]);
      const change = (environment?: ReadonlyMap<string, Secret>) =>
        world().deployments.change(id, (deployment) => ({
          deployment,
          events: [],
          ...(environment && { environment }),
        }));
      await change(new Map([["B", new Secret("second")]]));
      expect(await known()).toEqual([["B", "second"]]);
      await change();
      expect(await known()).toEqual([["B", "second"]]);
      await change(new Map());
      expect(await known()).toEqual([]);
      await change(first);
      expect(await known()).toEqual([["A", "first"]]);
    });

    test("environment() is empty for a deployment created without one, and for an unknown one", async () => {
      const { id } = await aDeployment(world());
      expect((await world().deployments.environment(id)).size).toBe(0);
      expect((await world().deployments.environment(newId("dep"))).size).toBe(0);
    });

    test("find() and remove() do not reach another organization's deployment", async () => {
      const deployment = await aDeployment(world());
      const { id: other } = await anOrganization(world());
      expect(await world().deployments.find(other, deployment.id)).toBeUndefined();
      expect(await world().deployments.remove(other, deployment.id)).toBe(false);
      expect(await world().deployments.get(deployment.id)).toEqual(deployment);
    });

    test("find(), get(), change() and remove() find nothing for an unknown deployment", async () => {
      const [{ id: organizationId }, id] = [await anOrganization(world()), newId("dep")];
      let called = false;
      expect(await world().deployments.find(organizationId, id)).toBeUndefined();
      expect(await world().deployments.get(id)).toBeUndefined();
      const changed = await world().deployments.change(id, () => {
        called = true;
        return undefined;
      });
      expect(changed).toBeUndefined();
      expect(called).toBe(false);
      expect(await world().deployments.remove(organizationId, id)).toBe(false);
    });

    async function listedIn(organizationId: string, filter: DeploymentFilter = {}): Promise<readonly Deployment[]> {
      const { items } = await world().deployments.list(organizationId, filter, ALL);
      return items.map(({ deployment }) => deployment);
    }

    test("list() and findPlaced() return which deployments are live, and which one each queued one waits for", async () => {
      const { id: organizationId } = await anOrganization(world());
      const inProject = async () => ({ organizationId, projectId: (await aProject(world(), { organizationId })).id });
      const places = [await inProject(), await inProject(), await inProject(), await inProject()] as const;
      const busy = [
        await aDeployment(world(), { ...places[0], status: "building" }),
        await aDeployment(world(), { ...places[1], status: "deploying" }),
        await aDeployment(world(), { ...places[2], status: "partial_failure", decision: "pending", held: true }),
      ] as const;
      const live = await aDeployment(world(), { ...places[3], status: "ready" });
      const queued = await Promise.all(places.map((at) => aDeployment(world(), at)));
      const positions = async () => {
        const { items } = await world().deployments.list(organizationId, {}, ALL);
        return new Map(items.map(({ deployment, ...position }) => [deployment.id, position]));
      };
      const idle = { active: false, waitingFor: null };
      const before = new Map<string, QueuePosition>([
        ...queued.slice(0, 3).map(({ id }, index) => [id, { active: false, waitingFor: busy[index]!.id }] as const),
        ...[queued[3]!, ...busy, live].map(({ id }) => [id, idle] as const),
      ]);
      expect(await positions()).toEqual(before);
      expect(await world().deployments.findPlaced(organizationId, live.id)).toEqual({ deployment: live, ...idle });
      for (const { projectId, id } of [busy[2], live]) {
        const change = () => ({ activeDeploymentId: id });
        await world().projects.change(organizationId, projectId, { change, at: minutes(1) });
      }
      const isLive = { active: true, waitingFor: null };
      expect(await positions()).toEqual(new Map([...before, [busy[2].id, isLive], [live.id, isLive]]));
      expect(await world().deployments.findPlaced(organizationId, live.id)).toEqual({ deployment: live, ...isLive });
      const first = { deployment: queued[0]!, active: false, waitingFor: busy[0].id };
      expect(await world().deployments.findPlaced(organizationId, queued[0]!.id)).toEqual(first);
      expect(await world().deployments.findPlaced(newId("org"), live.id)).toBeUndefined();
      expect(await world().deployments.findPlaced(organizationId, newId("dep"))).toBeUndefined();
    });

    test("list() and findPlaced() return every change at once, and count what was deleted no more", async () => {
      const { organizationId, projectId } = await place();
      const made = await Promise.all([1, 2, 3].map(() => aDeployment(world(), { organizationId, projectId })));
      const seen = async (filter: DeploymentFilter = {}) => {
        const { items, total } = await world().deployments.list(organizationId, filter, { page: 1, perPage: 2 });
        return { total, statuses: items.map(({ deployment }) => deployment.status) };
      };
      expect(await seen()).toEqual({ total: 3, statuses: ["queued", "queued"] });
      for (const { id } of made) {
        const status = "cancelled";
        await world().deployments.change(id, (deployment) => ({ deployment: { ...deployment, status }, events: [] }));
        expect((await world().deployments.findPlaced(organizationId, id))?.deployment.status).toBe(status);
      }
      expect(await seen()).toEqual({ total: 3, statuses: ["cancelled", "cancelled"] });
      expect(await seen({ status: "cancelled", projectId })).toEqual({
        total: 3,
        statuses: ["cancelled", "cancelled"],
      });
      expect(await seen({ status: "queued" })).toEqual({ total: 0, statuses: [] });
      expect(await seen({ projectId: newId("prj") })).toEqual({ total: 0, statuses: [] });
      for (const { id } of made.slice(0, 2)) await world().deployments.remove(organizationId, id);
      expect(await seen()).toEqual({ total: 1, statuses: ["cancelled"] });
      await world().projects.remove(organizationId, projectId);
      expect(await seen()).toEqual({ total: 0, statuses: [] });
      expect(await seen({ projectId })).toEqual({ total: 0, statuses: [] });
    });

    test("list() counts no deployment of another organization's project", async () => {
      const { organizationId } = await place();
      const foreign = await aDeployment(world());
      const filter = { projectId: foreign.projectId };
      expect(await world().deployments.list(organizationId, filter, ALL)).toEqual({ items: [], total: 0 });
    });

    test("list() and ofProject() return newest first, equal times by id, page by page", async () => {
      const at = await place();
      const made: Deployment[] = [];
      for (const minute of SHUFFLED_MINUTES) {
        made.push(await aDeployment(world(), { ...at, createdAt: minutes(minute) }));
      }
      await aDeployment(world());
      const expected = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id });
      await expectPages(
        (page) => world().deployments.list(at.organizationId, {}, page),
        expected.map(({ id }) => id),
        ({ deployment }) => deployment.id,
      );
      expect(await listedIn(at.organizationId)).toEqual(expected);
      expect(await world().deployments.ofProject(at.projectId)).toEqual(expected);
      expect(await world().deployments.ofProject(newId("prj"))).toEqual([]);
    });

    test("list() returns deployments of given projects and given ids, within the organization", async () => {
      const { organizationId, projectId } = await place();
      const { id: secondId } = await aProject(world(), { organizationId });
      const make = (projectOf: string, minute: number) =>
        aDeployment(world(), { organizationId, projectId: projectOf, createdAt: minutes(minute) });
      const [first, second, third] = [await make(projectId, 1), await make(secondId, 2), await make(secondId, 3)];
      const foreign = await aDeployment(world());
      const listed = async (filter: { projectIds?: string[]; ids?: string[]; projectId?: string }) =>
        (await listedIn(organizationId, filter)).map(({ id }) => id);
      expect(await listed({ projectIds: [projectId] })).toEqual([first.id]);
      expect(await listed({ projectIds: [secondId, foreign.projectId] })).toEqual([third.id, second.id]);
      expect(await listed({ projectIds: [projectId], ids: [third.id, foreign.id] })).toEqual([third.id, first.id]);
      expect(await listed({ projectIds: [], ids: [second.id] })).toEqual([second.id]);
      expect(await listed({ projectIds: [], ids: [] })).toEqual([]);
      expect(await listed({ projectIds: [] })).toEqual([]);
      expect(await listed({ projectId: secondId })).toEqual([third.id, second.id]);
      expect(await listed({ projectIds: [projectId], ids: [second.id], projectId: secondId })).toEqual([second.id]);
      expect(await listed({ projectIds: [projectId], ids: [second.id], projectId })).toEqual([first.id]);
      expect(await listed({})).toEqual([third.id, second.id, first.id]);
    });

    test("list() filters by status, environment and branch, alone, together and within projects", async () => {
      const { organizationId, projectId } = await place();
      const { id: secondId } = await aProject(world(), { organizationId });
      const make = (minute: number, overrides: Partial<Deployment>) =>
        aDeployment(world(), { organizationId, projectId, createdAt: minutes(minute), ...overrides });
      const first = await make(1, { status: "ready", branch: "main" });
      const second = await make(2, { status: "ready", branch: "feature/ünïcode", environment: "preview" });
      const third = await make(3, { status: "failed", branch: "main", environment: "preview" });
      const fourth = await make(4, { status: "failed", branch: null, projectId: secondId });
      const listed = async (filter: DeploymentFilter) => {
        const { items, total } = await world().deployments.list(organizationId, filter, ALL);
        expect(total).toBe(items.length);
        return items.map(({ deployment }) => deployment.id);
      };
      expect(await listed({ status: "ready" })).toEqual([second.id, first.id]);
      expect(await listed({ status: "superseded" })).toEqual([]);
      expect(await listed({ environment: "preview" })).toEqual([third.id, second.id]);
      expect(await listed({ environment: "production" })).toEqual([fourth.id, first.id]);
      expect(await listed({ branch: "main" })).toEqual([third.id, first.id]);
      expect(await listed({ branch: "feature/ünïcode" })).toEqual([second.id]);
      for (const branch of ["Main", "mai", "main%", "null", ""]) expect(await listed({ branch })).toEqual([]);
      expect(await listed({ status: "failed", environment: "preview", branch: "main" })).toEqual([third.id]);
      expect(await listed({ status: "ready", branch: "main", environment: "preview" })).toEqual([]);
      expect(await listed({ status: "failed", projectIds: [secondId] })).toEqual([fourth.id]);
      expect(await listed({ status: "failed", projectIds: [secondId], ids: [first.id, third.id] })).toEqual([
        fourth.id,
        third.id,
      ]);
    });

    test("change() stores every field with its events and returns the result", async () => {
      const before = await aDeployment(world(), {}, [logLine("first")]);
      const expected = { ...before, ...FULL };
      let seen: Deployment | undefined;
      const changed = await world().deployments.change(before.id, (deployment) => {
        seen = deployment;
        return { deployment: { ...deployment, ...FULL }, events: [STATUS, logLine("second")] };
      });
      expect(seen).toEqual(before);
      expect(changed).toEqual(expected);
      expect(await world().deployments.get(before.id)).toEqual(expected);
      expect(await types(before.id)).toEqual(["log", "status", "log"]);
    });

    test("change() does not change the identity of a deployment: ids, version and creation time", async () => {
      const before = await aDeployment(world());
      const others = { id: newId("dep"), organizationId: newId("org"), projectId: newId("prj") };
      const changed = await world().deployments.change(before.id, (deployment) => ({
        deployment: { ...deployment, ...others, version: 9, createdAt: minutes(99), branch: "other" },
        events: [],
      }));
      expect(changed).toEqual({ ...before, branch: "other" });
      expect(await world().deployments.get(before.id)).toEqual({ ...before, branch: "other" });
    });

    test("change() that returns nothing changes nothing", async () => {
      const before = await aDeployment(world());
      expect(await world().deployments.change(before.id, () => undefined)).toEqual(before);
      expect(await world().deployments.get(before.id)).toEqual(before);
      expect(await types(before.id)).toEqual([]);
    });

    test("change() that throws changes nothing, rethrows the error, and releases the deployment", async () => {
      const before = await aDeployment(world());
      const refusal = new Error("Not like this");
      const refuse = () => {
        throw refusal;
      };
      await expect(world().deployments.change(before.id, refuse)).rejects.toBe(refusal);
      expect(await world().deployments.get(before.id)).toEqual(before);
      expect(await world().deployments.change(before.id, renamed("next"))).toMatchObject({ branch: "next" });
    });

    test("concurrent change() calls in two processes all take effect, and so do their events", async () => {
      const { id } = await aDeployment(world());
      const { deployments, deploymentEvents, elsewhere } = world();
      await Promise.all(
        Array.from({ length: 12 }, (_, index) => [
          (index % 2 ? deployments : elsewhere.deployments).change(id, longer),
          deploymentEvents.append(id, [STATUS]),
        ]).flat(),
      );
      expect((await deployments.get(id))?.urls).toHaveLength(12);
      const all = await types(id);
      expect(all).toHaveLength(36);
      const events = await deploymentEvents.read(id, { since: 0, limit: 100 });
      const numbers = events.flatMap((event) =>
        event.type === "log" && event.message !== "and" ? [event.message] : [],
      );
      expect(numbers).toEqual(Array.from({ length: 12 }, (_, index) => `${index}`));
    });

    test("change() allows one deployment of a project to be building, deploying or undecided at a time", async () => {
      const at = await place();
      const [first, second] = [await aDeployment(world(), at), await aDeployment(world(), at)];
      const busy = { kind: "conflict", code: "project_busy" };
      for (const status of ["building", "deploying", "partial_failure"] as const) {
        await world().deployments.change(first.id, moved(status));
        const refused = (deployment: Deployment) => ({ ...moved("building")(deployment), events: [STATUS] });
        await expect(world().deployments.change(second.id, refused)).rejects.toMatchObject(busy);
        expect(await world().deployments.get(second.id)).toEqual(second);
        expect(await types(second.id)).toEqual([]);
      }
      await aDeployment(world(), { status: "building" });
      await world().deployments.change(first.id, moved("ready"));
      expect(await world().deployments.change(second.id, moved("building"))).toMatchObject({ status: "building" });
    });

    test("concurrent change() of two deployments of a project to building succeeds for one", async () => {
      const at = await place();
      const { deployments, elsewhere } = world();
      const [first, second] = [await aDeployment(world(), at), await aDeployment(world(), at)];
      const outcomes = await Promise.allSettled([
        deployments.change(first.id, moved("building")),
        elsewhere.deployments.change(second.id, moved("building")),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    });

    test("create() and change() accept text that cannot be stored, and keep the rest of it", async () => {
      const at = await place();
      const created = await aDeployment(world(), { ...at, commitMessage: "a\0b\ud800c" });
      expect(created.commitMessage).toBe("a\uFFFDb\uFFFDc");
      const changed = await world().deployments.change(created.id, (deployment) => ({
        deployment: { ...deployment, error: { code: "x", message: "tail: \0\udc00🚀\\u0000", step: null } },
        events: [],
      }));
      expect(changed?.error?.message).toBe("tail: \uFFFD\uFFFD🚀\\u0000");
      expect(await world().deployments.get(created.id)).toEqual(changed!);
    });

    test("remove() removes events and environment too, once, and nothing of another deployment", async () => {
      const at = await place();
      const stored = { environment: new Map([["A", new Secret("1")]]), events: [logLine("x")] };
      const [gone, kept] = [deploymentOf(at), deploymentOf(at)];
      for (const deployment of [gone, kept]) await world().deployments.create(deployment, stored);
      expect(await world().deployments.remove(at.organizationId, gone.id)).toBe(true);
      expect(await world().deployments.remove(at.organizationId, gone.id)).toBe(false);
      expect(await world().deployments.get(gone.id)).toBeUndefined();
      expect((await world().deployments.environment(gone.id)).size).toBe(0);
      expect(await types(gone.id)).toEqual([]);
      expect(await world().deploymentEvents.last(gone.id)).toBe(0);
      expect((await world().deployments.environment(kept.id)).size).toBe(1);
      expect(await types(kept.id)).toEqual(["log"]);
    });

    test("remove() of the active deployment leaves its project without one", async () => {
      const at = await place();
      const [active, other] = [await aDeployment(world(), at), await aDeployment(world(), at)];
      const change = () => ({ activeDeploymentId: active.id });
      await world().projects.change(at.organizationId, at.projectId, { change, at: minutes(1) });
      const activeId = async () => (await world().projects.find(at.organizationId, at.projectId))?.activeDeploymentId;
      await world().deployments.remove(at.organizationId, other.id);
      expect(await activeId()).toBe(active.id);
      await world().deployments.remove(at.organizationId, active.id);
      expect(await activeId()).toBeNull();
    });

    test("concurrent operations during removal of the project all end and leave nothing", async () => {
      const { deployments, deploymentEvents, elsewhere, projects } = world();
      for (let round = 0; round < 5; round++) {
        const at = await place();
        const { id } = await aDeployment(world(), at);
        const change = () => ({ activeDeploymentId: id });
        await projects.change(at.organizationId, at.projectId, { change, at: minutes(1) });
        const outcomes = await Promise.allSettled([
          deploymentEvents.append(id, [logLine("one")]),
          deployments.change(id, renamed("two", STATUS)),
          elsewhere.deployments.create(deploymentOf(at), NONE),
          round % 2 ? projects.remove(at.organizationId, at.projectId) : deployments.remove(at.organizationId, id),
          elsewhere.deployments.remove(at.organizationId, id),
          elsewhere.deploymentEvents.append(id, [logLine("three")]),
          projects.remove(at.organizationId, at.projectId),
        ]);
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "not_found" });
        }
        expect(await deployments.ofProject(at.projectId)).toEqual([]);
        expect(await types(id)).toEqual([]);
      }
    });

    test("removal of the project removes its deployments", async () => {
      const { organizationId, projectId } = await place();
      const gone = await aDeployment(world(), { organizationId, projectId }, [logLine("x")]);
      const kept = await aDeployment(world(), { organizationId });
      await world().projects.remove(organizationId, projectId);
      expect(await world().deployments.get(gone.id)).toBeUndefined();
      expect(await types(gone.id)).toEqual([]);
      expect(await listedIn(organizationId)).toEqual([kept]);
    });
  });
}
