import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../domain/deployments/deployment_event.ts";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import type { DeploymentChange } from "../../ports/deployments/deployments.ts";
import { newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import {
  aDeployment,
  anOrganization,
  aPlace,
  deploymentOf,
  logLine,
  minutes,
} from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

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

    async function types(id: string): Promise<string[]> {
      const events = await world().deploymentEvents.read(id, { since: 0, limit: 100 });
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      return events.map(({ type }) => type);
    }

    test("create(), find() and get() return a deployment with every field", async () => {
      const at = await aPlace(world());
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
      const [one, other] = [await aPlace(world()), await aPlace(world())];
      expect((await aDeployment(world(), one)).version).toBe(1);
      const second = await aDeployment(world(), one);
      expect(second.version).toBe(2);
      expect((await aDeployment(world(), other)).version).toBe(1);
      await world().deployments.remove(one.organizationId, second.id);
      expect((await aDeployment(world(), one)).version).toBe(3);
    });

    test("concurrent create() calls in two processes assign every version once", async () => {
      const at = await aPlace(world());
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
      const [one, other] = [await aPlace(world()), await aPlace(world())];
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
      const at = await aPlace(world());
      const texts = [...oddTexts, "", "a\0b", "x".repeat(100_000)];
      const entries = texts.map((text, index) => [`KEY_${texts.length - index}`, text] as const);
      const environment = new Map(entries.map(([key, text]) => [key, new Secret(text)]));
      const { id } = await world().deployments.create(deploymentOf(at), { environment, events: [] });
      const stored = await world().deployments.environment(id);
      expect([...stored].map(([key, value]) => [key, value.reveal()])).toEqual(entries.map((entry) => [...entry]));
      expect(Bun.inspect(stored)).not.toContain("DROP TABLE");
    });

    test("change() replaces an environment in every process, or leaves it unchanged", async () => {
      const at = await aPlace(world());
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

    test("ofProject() returns newest first, equal times by id", async () => {
      const at = await aPlace(world());
      const made: Deployment[] = [];
      for (const minute of SHUFFLED_MINUTES) {
        made.push(await aDeployment(world(), { ...at, createdAt: minutes(minute) }));
      }
      await aDeployment(world());
      const expected = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id });
      expect(await world().deployments.ofProject(at.projectId)).toEqual(expected);
      expect(await world().deployments.ofProject(newId("prj"))).toEqual([]);
    });

    test("usingFilesOf() returns the deployments of all projects that name the files of these, deleted or not", async () => {
      const [gone, there] = [newId("dep"), (await aDeployment(world())).id];
      const service = FULL.services[0]!;
      const source = { kind: "copy", deploymentId: there } as const;
      const users = [
        await aDeployment(world(), { artifactOf: gone }),
        await aDeployment(world(), { services: [{ ...service, filesOf: gone }] }),
        await aDeployment(world(), { source }),
      ];
      await aDeployment(world(), { artifactOf: newId("dep"), rollbackOf: gone });
      const found = async (...ids: string[]) => (await world().deployments.usingFilesOf(ids)).map(({ id }) => id);
      const expected = users.map(({ id }) => id);
      expect((await found(gone, there)).toSorted()).toEqual(expected.toSorted());
      expect((await found(gone)).toSorted()).toEqual(expected.slice(0, 2).toSorted());
      expect(await found(there)).toEqual(expected.slice(2));
      expect(await world().deployments.usingFilesOf([there])).toEqual(users.slice(2));
      expect(await found()).toEqual([]);
      expect(await found(newId("dep"))).toEqual([]);
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
      const at = await aPlace(world());
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
      const at = await aPlace(world());
      const { deployments, elsewhere } = world();
      const [first, second] = [await aDeployment(world(), at), await aDeployment(world(), at)];
      const outcomes = await Promise.allSettled([
        deployments.change(first.id, moved("building")),
        elsewhere.deployments.change(second.id, moved("building")),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    });

    test("create() and change() accept text that cannot be stored, and keep the rest of it", async () => {
      const at = await aPlace(world());
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
      const at = await aPlace(world());
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
      const at = await aPlace(world());
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
        const at = await aPlace(world());
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
      const { organizationId, projectId } = await aPlace(world());
      const gone = await aDeployment(world(), { organizationId, projectId }, [logLine("x")]);
      const kept = await aDeployment(world(), { organizationId });
      await world().projects.remove(organizationId, projectId);
      expect(await world().deployments.get(gone.id)).toBeUndefined();
      expect(await types(gone.id)).toEqual([]);
      expect(await world().deployments.get(kept.id)).toEqual(kept);
    });
  });
}
