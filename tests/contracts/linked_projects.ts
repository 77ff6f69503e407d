import { describe, expect, test } from "bun:test";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, aProject } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** Contract tests for `LinkedProjects` adapters. */
export function linkedProjectsContract(
  name: string,
  open: () => Promise<WorldOf<"installation" | "linkedProjects" | "organizations" | "projects">>,
) {
  describe(`LinkedProjects contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function linked(organizationId: string, settings: object): Promise<string> {
      const { id } = await aProject(world(), { organizationId });
      await world().projects.change(organizationId, id, { change: () => ({ settings }), at: new Date() });
      return id;
    }

    test("repositories() returns those of the organization's linked projects, one entry per project", async () => {
      const [own, other] = [await anOrganization(world()), await anOrganization(world())];
      const checked = { gitOwner: "Acme", gitRepo: "Shop", gitAccess: true };
      const first = await linked(own.id, checked);
      const second = await linked(own.id, { ...checked, gitBranch: "next" });
      await linked(own.id, { gitOwner: "acme", gitRepo: "unchecked" });
      await linked(own.id, { gitUrl: "https://git.example.com/a/b.git" });
      await linked(other.id, { gitOwner: "acme", gitRepo: "other", gitAccess: true });
      const found = await world().linkedProjects.repositories(own.id);
      expect(found.toSorted((a, b) => a.projectId.localeCompare(b.projectId))).toEqual(
        [first, second].sort().map((projectId) => ({ projectId, owner: "Acme", repo: "Shop" })),
      );
    });

    test("of() returns the projects of all organizations, without regard to case", async () => {
      const [one, two] = [await anOrganization(world()), await anOrganization(world())];
      const repo = `R-${crypto.randomUUID()}`;
      const ids = [
        await linked(one.id, { gitOwner: "Acme", gitRepo: repo }),
        await linked(two.id, { gitOwner: "aCME", gitRepo: repo.toLowerCase() }),
      ];
      await linked(one.id, { gitOwner: "Acme", gitRepo: `${repo}x` });
      const found = await world().linkedProjects.of({ owner: "ACME", repo: repo.toUpperCase() });
      expect(found.map(({ id }) => id).sort()).toEqual(ids.sort());
      const [project] = found;
      expect(project).toEqual((await world().projects.find(project!.organizationId, project!.id))!);
      expect(await world().linkedProjects.of({ owner: "acme", repo: "none" })).toEqual([]);
    });
  });
}
