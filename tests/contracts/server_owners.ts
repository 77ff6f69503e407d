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

    test("inUse() returns servers of all organizations that projects run on, each once and in order", async () => {
      const [one, other, unused] = [await made(), await made(), await made()];
      for (const { organizationId, serverId } of [other, one, one]) {
        await aProject(world(), { organizationId, location: "server", serverId });
      }
      expect(await used(one, other, unused)).toEqual([one.serverId, other.serverId].toSorted());
    });

    test("inUse() leaves out servers of projects that run elsewhere, and deleted servers", async () => {
      const [local, cloud, gone] = [await made(), await made(), await made()];
      await aProject(world(), { ...local, location: "local" });
      await aProject(world(), { ...cloud, location: "cloud" });
      await aProject(world(), { ...gone, location: "server" });
      expect(await used(gone)).toEqual([gone.serverId]);
      await world().servers.remove(gone.organizationId, gone.serverId);
      expect(await used(local, cloud, gone)).toEqual([]);
    });

    test("inUse() follows a project that moves, and forgets one that is deleted", async () => {
      const one = await made();
      const { organizationId } = one;
      const other = await made(organizationId);
      const { id } = await aProject(world(), { organizationId });
      const move = (location: "local" | "server", serverId: string | null) =>
        world().projects.change(organizationId, id, { change: () => ({ place: { location, serverId } }), at: START });
      expect(await used(one, other)).toEqual([]);
      await move("server", one.serverId);
      expect(await used(one, other)).toEqual([one.serverId]);
      await move("server", other.serverId);
      expect(await used(one, other)).toEqual([other.serverId]);
      await move("local", null);
      expect(await used(one, other)).toEqual([]);
      await move("server", one.serverId);
      await world().projects.remove(organizationId, id);
      expect(await used(one, other)).toEqual([]);
    });
  });
}
