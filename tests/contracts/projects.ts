import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { Project, ProjectSettings } from "../../domain/projects/project.ts";
import { Secret } from "../../domain/secret.ts";
import type { ProjectChange } from "../../ports/projects/projects.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import {
  anOrganization,
  aProject,
  domainOf,
  freeNameOf,
  minutes,
  projectOf,
  START,
  uniqueLabel,
} from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };

/** Every setting, with texts that break faulty quoting or parsing. */
const EVERY_SETTING: Required<ProjectSettings> = {
  gitOwner: "acme",
  gitRepo: "shop",
  gitBranch: "feature/ü-🚀",
  gitUrl: "ssh://git@example.com/shop.git",
  localPath: '/srv/it\'s "here"',
  gitAccess: true,
  inCloud: true,
  gitSubmodules: true,
  localPathByAdmin: true,
  autoDeploy: true,
  previews: { enabled: true, max: 3, ttlHours: 24 },
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
  hostPaths: ["/srv/media", "pgdata"],
  port: 3_000,
  projectType: "services",
  services: [
    { name: "web", environment: { "ODD'KEY": oddTexts[4]! }, dependsOn: { db: { condition: "service_healthy" } } },
    { name: "db", ports: ["5432", 5432], command: ["a", "b c"], resources: { cpus: 0.5, memoryBytes: 2 ** 40 } },
  ],
  publicEndpoints: [{ port: "80", service: "web", domainType: "free" }],
  rollbackWindow: 0,
  healthPath: "/health?x=%20",
  requireApproval: false,
  runtime: "docker",
};

function addOne({ settings }: Project) {
  return { settings: { ...settings, port: (settings.port ?? 0) + 1 } };
}

/** Contract tests for `Projects` adapters. */
export function projectsContract(
  name: string,
  open: () => Promise<WorldOf<"projects" | "domains" | "installation" | "organizations" | "variables">>,
) {
  describe(`Projects contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function anOrganizationId(): Promise<string> {
      return (await anOrganization(world())).id;
    }

    async function found(organizationId: string, search: string): Promise<string[]> {
      const { items, total } = await world().projects.list(organizationId, { search }, ALL);
      expect(total).toBe(items.length);
      return items.map((project) => project.name).toSorted();
    }

    async function named(...names: readonly string[]): Promise<string> {
      const organizationId = await anOrganizationId();
      for (const text of names) {
        const label = uniqueLabel();
        const slug = `s-${label}`;
        await aProject(world(), { organizationId, name: text, slug, hostname: `${label}.apps.example.com` });
      }
      return organizationId;
    }

    test("find() and findBySlug() return a project with every setting", async () => {
      const organizationId = await anOrganizationId();
      const project = await aProject(world(), { organizationId, settings: EVERY_SETTING, location: "cloud" });
      expect(await world().projects.find(organizationId, project.id)).toEqual(project);
      expect(await world().projects.findBySlug(organizationId, project.slug)).toEqual(project);
    });

    test.each(oddTexts)("find() returns the name %j unchanged", async (text) => {
      const organizationId = await anOrganizationId();
      const project = await aProject(world(), { organizationId, name: text, settings: { buildCommand: text } });
      expect(await world().projects.find(organizationId, project.id)).toEqual(project);
    });

    test("find(), findBySlug(), change() and remove() do not reach a project of another organization", async () => {
      const [organizationId, other] = [await anOrganizationId(), await anOrganizationId()];
      const project = await aProject(world(), { organizationId });
      expect(await world().projects.find(other, project.id)).toBeUndefined();
      expect(await world().projects.findBySlug(other, project.slug)).toBeUndefined();
      const theft = { change: () => ({ name: "Stolen" }), at: START };
      expect(await world().projects.change(other, project.id, theft)).toBeUndefined();
      expect(await world().projects.remove(other, project.id)).toBe(false);
      expect(await world().projects.find(organizationId, project.id)).toEqual(project);
    });

    test("find(), findBySlug(), change() and remove() find nothing for an unknown project", async () => {
      const organizationId = await anOrganizationId();
      const id = newId("prj");
      let called = false;
      const change = () => {
        called = true;
        return {};
      };
      expect(await world().projects.find(organizationId, id)).toBeUndefined();
      expect(await world().projects.findBySlug(organizationId, uniqueLabel())).toBeUndefined();
      expect(await world().projects.change(organizationId, id, { change, at: START })).toBeUndefined();
      expect(called).toBe(false);
      expect(await world().projects.remove(organizationId, id)).toBe(false);
    });

    test("create() stores the free name with the project", async () => {
      const organizationId = await anOrganizationId();
      const project = projectOf({ organizationId });
      const freeName = freeNameOf(project);
      expect(await world().projects.create(project, freeName)).toBe("created");
      expect(await world().domains.find(organizationId, freeName.id)).toEqual(freeName);
    });

    test("create() reports a slug that is taken in the organization, and stores nothing", async () => {
      const organizationId = await anOrganizationId();
      const { slug } = await aProject(world(), { organizationId });
      const second = projectOf({ organizationId, slug });
      expect(await world().projects.create(second, freeNameOf(second))).toBe("slug_taken");
      expect(await world().projects.find(organizationId, second.id)).toBeUndefined();
      const third = projectOf({ organizationId, hostname: second.hostname });
      expect(await world().projects.create(third, freeNameOf(third))).toBe("created");
    });

    test("create() accepts a slug that only another organization has", async () => {
      const { slug } = await aProject(world(), { organizationId: await anOrganizationId() });
      const second = projectOf({ organizationId: await anOrganizationId(), slug });
      expect(await world().projects.create(second, freeNameOf(second))).toBe("created");
    });

    test("create() reports an id that a project of any organization has, and stores nothing", async () => {
      const organizationId = await anOrganizationId();
      const { id } = await aProject(world(), { organizationId });
      for (const place of [organizationId, await anOrganizationId()]) {
        const second = projectOf({ organizationId: place, id });
        expect(await world().projects.create(second, freeNameOf(second))).toBe("id_taken");
        expect(await world().projects.findBySlug(place, second.slug)).toBeUndefined();
      }
    });

    test("create() accepts the id of a removed project from its own organization only", async () => {
      const organizationId = await anOrganizationId();
      const { id } = await aProject(world(), { organizationId });
      await world().projects.remove(organizationId, id);
      const foreign = projectOf({ organizationId: await anOrganizationId(), id });
      expect(await world().projects.create(foreign, freeNameOf(foreign))).toBe("id_taken");
      const own = projectOf({ organizationId, id });
      expect(await world().projects.create(own, freeNameOf(own))).toBe("created");
      await world().projects.remove(organizationId, id);
      expect(await world().projects.create(foreign, freeNameOf(foreign))).toBe("id_taken");
    });

    test("concurrent create() calls with one id succeed once", async () => {
      const id = newId("prj");
      const organizations = [await anOrganizationId(), await anOrganizationId()];
      const outcomes = await Promise.all(
        [...organizations, ...organizations].map((organizationId) => {
          const project = projectOf({ organizationId, id });
          return world().projects.create(project, freeNameOf(project));
        }),
      );
      expect(outcomes.toSorted()).toEqual(["created", "id_taken", "id_taken", "id_taken"]);
    });

    test("create() reports a host name that is taken in any organization, and stores nothing", async () => {
      const taken = await aProject(world(), { organizationId: await anOrganizationId() });
      const organizationId = await anOrganizationId();
      const second = projectOf({ organizationId, hostname: taken.hostname });
      expect(await world().projects.create(second, freeNameOf(second))).toBe("hostname_taken");
      expect(await world().projects.find(organizationId, second.id)).toBeUndefined();
      const third = projectOf({ organizationId, slug: second.slug });
      expect(await world().projects.create(third, freeNameOf(third))).toBe("created");
    });

    test("create() reports a host name that is taken as a custom name", async () => {
      const organizationId = await anOrganizationId();
      const { id: projectId } = await aProject(world(), { organizationId });
      const custom = domainOf({ organizationId, projectId });
      expect(await world().domains.claim(custom)).toBe(true);
      const second = projectOf({ organizationId, hostname: custom.hostname });
      expect(await world().projects.create(second, freeNameOf(second))).toBe("hostname_taken");
    });

    test("concurrent create() calls with one slug succeed once", async () => {
      const organizationId = await anOrganizationId();
      const slug = `race-${uniqueLabel()}`;
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () => {
          const project = projectOf({ organizationId, slug });
          return world().projects.create(project, freeNameOf(project));
        }),
      );
      expect(outcomes.toSorted()).toEqual(["created", ...Array<"slug_taken">(4).fill("slug_taken")]);
      expect((await world().projects.list(organizationId, {}, ALL)).total).toBe(1);
      expect((await world().domains.list(organizationId, {}, ALL)).total).toBe(1);
    });

    test("concurrent create() calls with one host name in several organizations succeed once", async () => {
      const hostname = `race-${uniqueLabel()}.apps.example.com`;
      const organizations = [await anOrganizationId(), await anOrganizationId(), await anOrganizationId()];
      const outcomes = await Promise.all(
        organizations.map((organizationId) => {
          const project = projectOf({ organizationId, hostname });
          return world().projects.create(project, freeNameOf(project));
        }),
      );
      expect(outcomes.toSorted()).toEqual(["created", "hostname_taken", "hostname_taken"]);
      const totals = await Promise.all(
        organizations.map(async (id) => (await world().projects.list(id, {}, ALL)).total),
      );
      expect(totals.toSorted()).toEqual([0, 0, 1]);
    });

    test("list() pages through the projects of one organization, newest first, equal times by id", async () => {
      const organizationId = await anOrganizationId();
      const made = [];
      for (const minute of SHUFFLED_MINUTES) {
        made.push(await aProject(world(), { organizationId, createdAt: minutes(minute) }));
      }
      await aProject(world(), { organizationId: await anOrganizationId() });
      const expected = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id });
      await expectPages(
        (page) => world().projects.list(organizationId, {}, page),
        expected.map(({ id }) => id),
        ({ id }) => id,
      );
      expect((await world().projects.list(organizationId, {}, ALL)).items).toEqual(expected);
    });

    test("list() by ids returns only projects of the organization, page by page", async () => {
      const organizationId = await anOrganizationId();
      const made = [];
      for (const minute of [1, 2, 3]) {
        made.push(await aProject(world(), { organizationId, createdAt: minutes(minute) }));
      }
      await aProject(world(), { organizationId });
      const foreign = await aProject(world(), { organizationId: await anOrganizationId() });
      const ids = [...made.map(({ id }) => id), foreign.id, newId("prj"), "' OR 1=1"];
      await expectPages(
        (page) => world().projects.list(organizationId, { ids }, page),
        made.map(({ id }) => id).toReversed(),
        ({ id }) => id,
      );
      expect(await world().projects.list(organizationId, { ids: [] }, ALL)).toEqual({ items: [], total: 0 });
    });

    describe("list() with a search", () => {
      test("finds a part of the name in any case", async () => {
        const organizationId = await named("Shop Frontend", "shop backend", "Blog");
        expect(await found(organizationId, "SHOP")).toEqual(["Shop Frontend", "shop backend"]);
        expect(await found(organizationId, "p f")).toEqual(["Shop Frontend"]);
        expect(await found(organizationId, "nothing")).toEqual([]);
        expect(await found(organizationId, "")).toHaveLength(3);
      });

      test("finds letters of other scripts in any case", async () => {
        const organizationId = await named("Äpfel", "ЁЛКА", "Ωmega");
        expect(await found(organizationId, "äPFEL")).toEqual(["Äpfel"]);
        expect(await found(organizationId, "ёлка")).toEqual(["ЁЛКА"]);
        expect(await found(organizationId, "ωM")).toEqual(["Ωmega"]);
      });

      test("finds a part of the slug", async () => {
        const organizationId = await anOrganizationId();
        const slug = `zebra-${uniqueLabel()}`;
        await aProject(world(), { organizationId, name: "Striped", slug });
        await aProject(world(), { organizationId, name: "Plain" });
        expect(await found(organizationId, "ZEBRA-")).toEqual(["Striped"]);
      });

      test.each([
        ["%", "100% wool", "100 wool"],
        ["_", "snake_case", "snake case"],
        ["a_c", "a_c", "abc"],
        ["\\", "back\\slash", "backslash"],
        ["\\%", "esc\\%aped", "esc%aped"],
        ["'", "O'Brien", "OBrien"],
        ['"', 'say "hi"', "say hi"],
        ["$1", "cash $1", "cash 1"],
        ["[a-z]", "class [a-z]", "class x"],
        [".*", "all.*", "all"],
        ["?", "why?", "why"],
        ["🚀", "up 🚀", "up"],
      ])("treats %s literally", async (search, hit, miss) => {
        const organizationId = await named(hit, miss);
        expect(await found(organizationId, search)).toEqual([hit]);
      });

      test("and ids returns what matches both, page by page", async () => {
        const organizationId = await anOrganizationId();
        const made: Project[] = [];
        for (const minute of [1, 2, 3, 4]) {
          made.push(await aProject(world(), { organizationId, name: `App ${minute}`, createdAt: minutes(minute) }));
        }
        const other = await aProject(world(), { organizationId, name: "Other" });
        const ids = [made[0]!.id, made[1]!.id, made[3]!.id, other.id];
        await expectPages(
          (page) => world().projects.list(organizationId, { ids, search: "app" }, page),
          [made[3]!.id, made[1]!.id, made[0]!.id],
          ({ id }) => id,
        );
      });
    });

    test("change() replaces the returned fields, keeps the rest and returns the result", async () => {
      const organizationId = await anOrganizationId();
      const project = await aProject(world(), { organizationId, settings: { port: 80, framework: "next" } });
      const expected = { ...project, name: "Renamed", settings: { port: 81 }, updatedAt: minutes(5) };
      let seen: Project | undefined;
      const changed = await world().projects.change(organizationId, project.id, {
        change(stored) {
          seen = stored;
          return { name: "Renamed", settings: { port: 81 } };
        },
        at: minutes(5),
      });
      expect(seen).toEqual(project);
      expect(changed).toEqual(expected);
      expect(await world().projects.find(organizationId, project.id)).toEqual(expected);
    });

    test("change() sets the active deployment, keeps it, and clears it", async () => {
      const organizationId = await anOrganizationId();
      const { id } = await aProject(world(), { organizationId });
      const active = newId("dep");
      const change = (how: ProjectChange) =>
        world().projects.change(organizationId, id, { change: () => how, at: START });
      expect(await change({ activeDeploymentId: active })).toMatchObject({ activeDeploymentId: active });
      expect(await change({ name: "Renamed" })).toMatchObject({ name: "Renamed", activeDeploymentId: active });
      expect(await world().projects.find(organizationId, id)).toMatchObject({ activeDeploymentId: active });
      expect(await change({ activeDeploymentId: null })).toMatchObject({ activeDeploymentId: null });
      expect(await world().projects.find(organizationId, id)).toMatchObject({ activeDeploymentId: null });
    });

    test("change() moves a project to a server, keeps it there, and moves it back", async () => {
      const organizationId = await anOrganizationId();
      const project = await aProject(world(), { organizationId, settings: { port: 80 } });
      const { id } = project;
      const change = (how: ProjectChange) =>
        world().projects.change(organizationId, id, { change: () => how, at: minutes(5) });
      const there = { location: "server", serverId: newId("srv") } as const;
      const moved = { ...project, ...there, updatedAt: minutes(5) };
      expect(await change({ place: there })).toEqual(moved);
      expect(await world().projects.find(organizationId, id)).toEqual(moved);
      expect(await change({ name: "Renamed" })).toEqual({ ...moved, name: "Renamed" });
      const elsewhere = { location: "server", serverId: newId("srv") } as const;
      expect(await change({ place: elsewhere, name: "Moved" })).toMatchObject({ ...elsewhere, name: "Moved" });
      const here = { location: "local", serverId: null } as const;
      expect(await change({ place: here })).toMatchObject({ ...here, name: "Moved", settings: { port: 80 } });
      expect(await world().projects.find(organizationId, id)).toMatchObject(here);
      expect((await world().projects.list(organizationId, {}, ALL)).items).toMatchObject([here]);
    });

    test("concurrent change() of place and settings both take effect", async () => {
      const organizationId = await anOrganizationId();
      const { id } = await aProject(world(), { organizationId });
      const place = { location: "server", serverId: newId("srv") } as const;
      const changes: readonly ProjectChange[] = [{ place }, { name: "Renamed" }, { settings: { port: 81 } }];
      await Promise.all(
        changes.map((how) => world().projects.change(organizationId, id, { change: () => how, at: START })),
      );
      const expected = { ...place, name: "Renamed", settings: { port: 81 } };
      expect(await world().projects.find(organizationId, id)).toMatchObject(expected);
    });

    test("change() moves a project to another slug and frees the former one", async () => {
      const organizationId = await anOrganizationId();
      const project = await aProject(world(), { organizationId });
      const slug = `new-${uniqueLabel()}`;
      await world().projects.change(organizationId, project.id, { change: () => ({ slug }), at: START });
      expect(await world().projects.findBySlug(organizationId, slug)).toMatchObject({ id: project.id });
      expect(await world().projects.findBySlug(organizationId, project.slug)).toBeUndefined();
      const next = projectOf({ organizationId, slug: project.slug });
      expect(await world().projects.create(next, freeNameOf(next))).toBe("created");
    });

    test("change() to the current slug of a project is no conflict", async () => {
      const organizationId = await anOrganizationId();
      const { id, slug } = await aProject(world(), { organizationId });
      const changed = await world().projects.change(organizationId, id, {
        change: () => ({ slug, name: "Same slug" }),
        at: START,
      });
      expect(changed).toMatchObject({ slug, name: "Same slug" });
    });

    test("change() refuses a slug that another project has, and changes nothing", async () => {
      const organizationId = await anOrganizationId();
      const { slug } = await aProject(world(), { organizationId });
      const project = await aProject(world(), { organizationId });
      const change = () => ({ slug, name: "Half done" });
      await expect(
        world().projects.change(organizationId, project.id, { change, at: minutes(5) }),
      ).rejects.toMatchObject({ kind: "conflict", code: "slug_taken" });
      expect(await world().projects.find(organizationId, project.id)).toEqual(project);
    });

    test("concurrent change() of two projects to one slug succeeds once", async () => {
      const organizationId = await anOrganizationId();
      const ids = [await aProject(world(), { organizationId }), await aProject(world(), { organizationId })];
      const slug = `race-${uniqueLabel()}`;
      const outcomes = await Promise.allSettled(
        ids.map(({ id }) => world().projects.change(organizationId, id, { change: () => ({ slug }), at: START })),
      );
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused).toHaveLength(1);
      expect(refused[0]!.reason).toMatchObject({ kind: "conflict", code: "slug_taken" });
    });

    test("change() that throws changes nothing and releases the project", async () => {
      const organizationId = await anOrganizationId();
      const project = await aProject(world(), { organizationId });
      const refusal = new Error("Not like this");
      const change = () => {
        throw refusal;
      };
      await expect(world().projects.change(organizationId, project.id, { change, at: START })).rejects.toBe(refusal);
      expect(await world().projects.find(organizationId, project.id)).toEqual(project);
      const next = { change: () => ({ name: "Next" }), at: START };
      expect(await world().projects.change(organizationId, project.id, next)).toMatchObject({ name: "Next" });
    });

    test("concurrent change() calls all take effect", async () => {
      const organizationId = await anOrganizationId();
      const { id } = await aProject(world(), { organizationId, settings: { port: 1 } });
      await Promise.all(
        Array.from({ length: 12 }, () => world().projects.change(organizationId, id, { change: addOne, at: START })),
      );
      expect(await world().projects.find(organizationId, id)).toMatchObject({ settings: { port: 13 } });
    });

    test("remove() removes variables and names too, once", async () => {
      const organizationId = await anOrganizationId();
      const project = await aProject(world(), { organizationId });
      const kept = await aProject(world(), { organizationId });
      const custom = domainOf({ organizationId, projectId: project.id });
      await world().domains.claim(custom);
      for (const { id } of [project, kept]) {
        const upserts = [{ key: "KEY", value: new Secret("value"), secret: true }];
        await world().variables.change(id, { upserts, deletes: [], at: START });
      }
      expect(await world().projects.remove(organizationId, project.id)).toBe(true);
      expect(await world().projects.find(organizationId, project.id)).toBeUndefined();
      expect(await world().variables.list(project.id)).toEqual([]);
      expect((await world().variables.reveal(project.id)).size).toBe(0);
      const names = (await world().domains.list(organizationId, {}, ALL)).items.map(({ hostname }) => hostname);
      expect(names).toEqual([kept.hostname]);
      expect(await world().variables.list(kept.id)).toHaveLength(1);
      expect(await world().projects.remove(organizationId, project.id)).toBe(false);
    });

    test("remove() frees slug and host names for others", async () => {
      const organizationId = await anOrganizationId();
      const project = await aProject(world(), { organizationId });
      await world().projects.remove(organizationId, project.id);
      const next = projectOf({ organizationId, slug: project.slug, hostname: project.hostname });
      expect(await world().projects.create(next, freeNameOf(next))).toBe("created");
    });

    test("concurrent remove() calls succeed once", async () => {
      const organizationId = await anOrganizationId();
      const { id } = await aProject(world(), { organizationId });
      const outcomes = await Promise.all([1, 2, 3].map(() => world().projects.remove(organizationId, id)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });
  });
}
