import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { VARIABLE_LIMITS } from "../../domain/projects/variable.ts";
import { Secret } from "../../domain/secret.ts";
import { anOrganization, aProject, freeNameOf, projectOf, uniqueLabel } from "../support/database/store_builders.ts";
import { adoptedOf, revealedOf } from "../support/inputs/adopted.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import type { WorldOf } from "./store_world.ts";

type World = WorldOf<"adoptions" | "domains" | "installation" | "organizations" | "projects" | "variables">;

const ALL = { page: 1, perPage: 100 };
const PASSWORD = { key: "db/PASSWORD", value: new Secret("swordfish"), secret: true };
const COLOUR = { key: "web/COLOUR", value: new Secret("blue"), secret: false };
const both = () => ({ services: [adoptedOf("web"), adoptedOf("db")], variables: [PASSWORD, COLOUR] });

/** Contract tests for `Adoptions` adapters. */
export function adoptionsContract(name: string, open: () => Promise<World>) {
  describe(`Adoptions contract: ${name}`, () => {
    const world = sharedWorld(open);
    describe("create()", () => creationTests(world));
    describe("create() stores nothing", () => refusalTests(world));
    describe("list()", () => listTests(world));
  });
}

function creationTests(world: () => World) {
  test("stores the project, its free name, its variables and its services", async () => {
    const project = await newProject(world());
    const freeName = freeNameOf(project);
    expect(await world().adoptions.create(project, freeName, both())).toBe("created");
    const { organizationId, id, createdAt: updatedAt } = project;
    expect(await world().projects.find(organizationId, id)).toEqual(project);
    expect((await world().domains.list(organizationId, {}, ALL)).items).toEqual([freeName]);
    expect(await world().variables.list(id)).toEqual([
      { key: "db/PASSWORD", value: null, secret: true, updatedAt },
      { key: "web/COLOUR", value: "blue", secret: false, updatedAt },
    ]);
    expect((await world().variables.reveal(id)).get("db/PASSWORD")!.reveal()).toBe("swordfish");
    expect(await world().variables.list(id, "preview")).toEqual([]);
    expect((await world().adoptions.list(id)).map(({ service }) => service)).toEqual(["db", "web"]);
  });

  test("takes none of either", async () => {
    const project = await newProject(world());
    const adoption = { services: [], variables: [] };
    expect(await world().adoptions.create(project, freeNameOf(project), adoption)).toBe("created");
    expect(await world().variables.list(project.id)).toEqual([]);
    expect(await world().adoptions.list(project.id)).toEqual([]);
  });

  test("takes as many variables as a project may have", async () => {
    const project = await newProject(world());
    const variables = many(VARIABLE_LIMITS.count, "x");
    expect(await world().adoptions.create(project, freeNameOf(project), { services: [], variables })).toBe("created");
    expect(await world().variables.list(project.id)).toHaveLength(VARIABLE_LIMITS.count);
  });

  test("leaves variables that can be changed as all others", async () => {
    const project = await newProject(world());
    await world().adoptions.create(project, freeNameOf(project), both());
    const upserts = [{ ...COLOUR, value: new Secret("red") }];
    await world().variables.change(project.id, { upserts, deletes: ["db/PASSWORD"], at: project.createdAt });
    const values = await world().variables.reveal(project.id);
    expect([...values].map(([key, value]) => [key, value.reveal()])).toEqual([["web/COLOUR", "red"]]);
  });

  test("of two with the same slug, only one succeeds", async () => {
    const { organizationId, slug } = await newProject(world());
    const rivals = [1, 2, 3].map(() => projectOf({ organizationId, slug }));
    const outcomes = await Promise.all(
      rivals.map((rival) => world().adoptions.create(rival, freeNameOf(rival), both())),
    );
    expect(outcomes.toSorted()).toEqual(["created", "slug_taken", "slug_taken"]);
    for (const [index, { id }] of rivals.entries()) {
      const isStored = outcomes[index] === "created";
      expect(await world().adoptions.list(id)).toHaveLength(isStored ? 2 : 0);
      expect(await world().variables.list(id)).toHaveLength(isStored ? 2 : 0);
    }
  });
}

function refusalTests(world: () => World) {
  const expectNothing = async (organizationId: string, id: string) => {
    expect(await world().projects.find(organizationId, id)).toBeUndefined();
    expect(await world().variables.list(id)).toEqual([]);
    expect((await world().variables.reveal(id)).size).toBe(0);
    expect(await world().adoptions.list(id)).toEqual([]);
  };

  test("when the slug is taken in the organization", async () => {
    const { organizationId } = await newProject(world());
    const { slug } = await aProject(world(), { organizationId });
    const project = projectOf({ organizationId, slug });
    expect(await world().adoptions.create(project, freeNameOf(project), both())).toBe("slug_taken");
    await expectNothing(organizationId, project.id);
  });

  test("when the host name is taken, even by another organization", async () => {
    const { organizationId } = await newProject(world());
    const { hostname } = await aProject(world(), { organizationId: (await anOrganization(world())).id });
    const project = projectOf({ organizationId, hostname });
    expect(await world().adoptions.create(project, freeNameOf(project), both())).toBe("hostname_taken");
    await expectNothing(organizationId, project.id);
    expect((await world().domains.list(organizationId, {}, ALL)).items).toEqual([]);
  });

  test.each([
    ["too many variables", () => many(VARIABLE_LIMITS.count + 1, "x")],
    ["too many bytes", () => many(Math.ceil(VARIABLE_LIMITS.bytes / 60_000) + 1, "x".repeat(60_000))],
  ])("with %s", async (_, variables) => {
    const project = await newProject(world());
    const creating = world().adoptions.create(project, freeNameOf(project), { services: [], variables: variables() });
    await expect(creating).rejects.toMatchObject({ kind: "invalid" });
    await expectNothing(project.organizationId, project.id);
  });
}

function listTests(world: () => World) {
  test("returns everything unchanged, by name", async () => {
    const project = await newProject(world());
    const services = oddTexts.map((text, index) =>
      adoptedOf(`svc-${String.fromCodePoint(122 - index)}`, {
        key: text,
        containerName: text,
        recipe: new Secret(text),
      }),
    );
    await world().adoptions.create(project, freeNameOf(project), { services, variables: [] });
    const listed = await world().adoptions.list(project.id);
    expect(listed.map(revealedOf)).toEqual(services.toReversed().map(revealedOf));
  });

  test("sorts uppercase first", async () => {
    const project = await newProject(world());
    const names = ["A", "B-1", "B.1", "B1", "B_1", "a", "b"];
    const services = names.toReversed().map((service) => adoptedOf(service));
    await world().adoptions.create(project, freeNameOf(project), { services, variables: [] });
    expect((await world().adoptions.list(project.id)).map(({ service }) => service)).toEqual(names);
  });

  test("returns recipes as secrets", async () => {
    const project = await newProject(world());
    const services = [adoptedOf("web", { recipe: new Secret("swordfish") })];
    await world().adoptions.create(project, freeNameOf(project), { services, variables: [] });
    const [adopted] = await world().adoptions.list(project.id);
    expect(adopted!.recipe).toBeInstanceOf(Secret);
    expect(adopted!.recipe.reveal()).toBe("swordfish");
    expect(Bun.inspect(adopted) + JSON.stringify(adopted)).not.toContain("swordfish");
  });

  test("is empty for a project that was not adopted, an unknown one and a removed one", async () => {
    const project = await newProject(world());
    const plain = await aProject(world(), { organizationId: project.organizationId });
    await world().adoptions.create(project, freeNameOf(project), both());
    await world().projects.remove(project.organizationId, project.id);
    for (const id of [plain.id, newId("prj"), project.id]) expect(await world().adoptions.list(id)).toEqual([]);
    expect(await world().variables.list(project.id)).toEqual([]);
  });

  test("tells which containers of a server projects have, and which of those have no live release", async () => {
    const project = await newProject(world());
    const serverId = newId("srv");
    const services = [adoptedOf("db", { serverId }), adoptedOf("web")];
    await world().adoptions.create(project, freeNameOf(project), { services, variables: [] });
    const holder = { projectId: project.id, projectName: project.name, service: "db" };
    expect([...(await world().adoptions.onServer(serverId))]).toEqual([[services[0]!.containerId, holder]]);
    expect(await world().adoptions.unsettled()).toContain(project.id);
    await world().projects.remove(project.organizationId, project.id);
    expect(await world().adoptions.onServer(serverId)).toEqual(new Map());
    expect(await world().adoptions.unsettled()).not.toContain(project.id);
  });

  test("refuses a container that a project has", async () => {
    const [one, other] = [await newProject(world()), await newProject(world())];
    const services = [adoptedOf("web")];
    await world().adoptions.create(one, freeNameOf(one), { services, variables: [] });
    const again = world().adoptions.create(other, freeNameOf(other), { services, variables: [] });
    await expect(again).rejects.toMatchObject({ kind: "conflict", code: "already_adopted" });
    expect(await world().projects.find(other.organizationId, other.id)).toBeUndefined();
  });

  test("keeps projects apart", async () => {
    const [one, other] = [await newProject(world()), await newProject(world())];
    for (const project of [one, other]) {
      const services = [adoptedOf("web", { containerName: project.id })];
      await world().adoptions.create(project, freeNameOf(project), { services, variables: [] });
    }
    await world().projects.remove(one.organizationId, one.id);
    expect(await world().adoptions.list(other.id)).toMatchObject([{ containerName: other.id }]);
  });
}

async function newProject(world: World) {
  const { id: organizationId } = await anOrganization(world);
  return projectOf({ organizationId, slug: `adopted-${uniqueLabel()}` });
}

function many(count: number, value: string) {
  return Array.from({ length: count }, (_, index) => ({
    key: `web/KEY_${index}`,
    value: new Secret(value),
    secret: false,
  }));
}
