import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aServer } from "../support/database/server_builders.ts";
import { anOrganization, aProject, START } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** Contract tests for `ServerOwners` adapters. */
export function serverOwnersContract(
  name: string,
  open: () => Promise<WorldOf<"serverOwners" | "servers" | "projects" | "installation" | "organizations">>,
) {
  describe(`ServerOwners contract: ${name}`, () => {
    const world = sharedWorld(open);

    /** A server of an organization, which is a new one by default. */
    async function made(given?: string) {
      const organizationId = given ?? (await anOrganization(world())).id;
      return { organizationId, serverId: (await aServer(world(), { organizationId })).id };
    }

    /** Which of these servers are in use, in the order of `inUse()`. */
    async function used(...servers: readonly { readonly serverId: string }[]): Promise<readonly string[]> {
      const ids = new Set(servers.map(({ serverId }) => serverId));
      return (await world().serverOwners.inUse()).filter((id) => ids.has(id));
    }

    test("organizationOf() returns the organization of each server", async () => {
      const [one, other] = [await made(), await made()];
      const second = await made(one.organizationId);
      for (const { organizationId, serverId } of [one, other, second]) {
        expect(await world().serverOwners.organizationOf(serverId)).toBe(organizationId);
      }
    });

    test.each([newId("srv"), "", "srv_", "' or true --", "prj_0"])(
      "organizationOf() finds nothing for %j, which is no server",
      async (id) => {
        expect(await world().serverOwners.organizationOf(id)).toBeUndefined();
      },
    );

    test("organizationOf() finds nothing for a deleted server", async () => {
      const { organizationId, serverId } = await made();
      await world().servers.remove(organizationId, serverId);
      expect(await world().serverOwners.organizationOf(serverId)).toBeUndefined();
    });

    test("inUse() returns the servers of all organizations with noteContainers(), each once and in order", async () => {
      const [one, other, unused] = [await made(), await made(), await made()];
      const { serverOwners } = world();
      await Promise.all([other, one, one].map(({ serverId }) => serverOwners.noteContainers(serverId)));
      await serverOwners.noteContainers(one.serverId);
      expect(await used(one, other, unused)).toEqual([one.serverId, other.serverId].toSorted());
    });

    test("inUse() keeps a server whose projects are gone, and one that was changed", async () => {
      const there = await made();
      const { organizationId, serverId } = there;
      const { id } = await aProject(world(), { organizationId, location: "server", serverId });
      expect(await used(there)).toEqual([]);
      await world().serverOwners.noteContainers(serverId);
      await world().projects.remove(organizationId, id);
      await world().servers.change(organizationId, serverId, { change: { name: "Renamed" }, at: START });
      expect(await used(there)).toEqual([serverId]);
    });

    test("inUse() leaves out deleted servers, and noteContainers() does nothing for them", async () => {
      const gone = await made();
      const { organizationId, serverId } = gone;
      await world().serverOwners.noteContainers(serverId);
      await world().servers.remove(organizationId, serverId);
      expect(await used(gone)).toEqual([]);
      await world().serverOwners.noteContainers(serverId);
      await world().serverOwners.noteContainers(newId("srv"));
      expect(await used(gone)).toEqual([]);
    });

    test("noteContainers() changes nothing that find() returns", async () => {
      const { organizationId, serverId } = await made();
      const before = await world().servers.find(organizationId, serverId);
      await world().serverOwners.noteContainers(serverId);
      expect(await world().servers.find(organizationId, serverId)).toEqual(before!);
    });
  });
}
