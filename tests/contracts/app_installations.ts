import { describe, expect, test } from "bun:test";
import type { AppInstallation } from "../../domain/githost/app_installation.ts";
import { newId } from "../../domain/id.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, founderOf, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** Beyond 32 bits, as ids of a git host may be. */
let lastId = 2 ** 40;

/** Contract tests for `AppInstallations` adapters. */
export function appInstallationsContract(
  name: string,
  open: () => Promise<WorldOf<"installation" | "appInstallations" | "organizations">>,
) {
  describe(`AppInstallations contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function installationOf(overrides: Partial<AppInstallation> = {}): Promise<AppInstallation> {
      return {
        id: ++lastId,
        organizationId: overrides.organizationId ?? (await anOrganization(world())).id,
        account: { login: "acme", id: 2 ** 41, type: "Organization", avatarUrl: "https://example.com/a.png" },
        suspended: false,
        connectedBy: (await founderOf(world())).id,
        connectedAt: minutes(1),
        ...overrides,
      };
    }

    async function anInstallation(overrides: Partial<AppInstallation> = {}): Promise<AppInstallation> {
      const installation = await installationOf(overrides);
      expect(await world().appInstallations.connect(installation)).toBe(true);
      return installation;
    }

    test("find() and list() return an installation as it was connected", async () => {
      const first = await anInstallation();
      const second = await anInstallation({
        account: { login: "octo-cat", id: 7, type: "User", avatarUrl: null },
        suspended: true,
      });
      for (const installation of [first, second]) {
        expect(await world().appInstallations.find(installation.id)).toEqual(installation);
        expect(await world().appInstallations.list(installation.organizationId)).toEqual([installation]);
      }
    });

    test.each(oddTexts)("find() returns the account %j unchanged", async (text) => {
      const account = { login: text, id: 1, type: "User", avatarUrl: text } as const;
      const { id } = await anInstallation({ account });
      expect((await world().appInstallations.find(id))?.account).toEqual(account);
    });

    test("list() returns the installations of one organization, oldest first", async () => {
      const { id: organizationId } = await anOrganization(world());
      const made = [];
      for (const minute of [3, 1, 2]) made.push(await anInstallation({ organizationId, connectedAt: minutes(minute) }));
      await anInstallation();
      const [third, first, second] = made;
      expect(await world().appInstallations.list(organizationId)).toEqual([first!, second!, third!]);
      expect(await world().appInstallations.list(newId("org"))).toEqual([]);
    });

    test("connect() of an installation that the organization has changes its account and state", async () => {
      const former = await anInstallation({ suspended: true });
      const account = { login: "renamed", id: 9, type: "User", avatarUrl: null } as const;
      const again = { ...former, account, suspended: false, connectedBy: newId("usr"), connectedAt: minutes(9) };
      expect(await world().appInstallations.connect(again)).toBe(true);
      expect(await world().appInstallations.find(former.id)).toEqual({ ...former, account, suspended: false });
    });

    test("connect() refuses an installation of another organization and changes nothing", async () => {
      const theirs = await anInstallation();
      const taken = await installationOf({ id: theirs.id, suspended: true });
      expect(await world().appInstallations.connect(taken)).toBe(false);
      expect(await world().appInstallations.find(theirs.id)).toEqual(theirs);
      expect(await world().appInstallations.list(taken.organizationId)).toEqual([]);
    });

    test("concurrent connect() calls of several organizations succeed for one", async () => {
      const id = ++lastId;
      const wanted = [];
      for (let count = 0; count < 20; count++) wanted.push(await installationOf({ id }));
      const outcomes = await Promise.all(wanted.map((installation) => world().appInstallations.connect(installation)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await world().appInstallations.find(id)).toEqual(wanted[outcomes.indexOf(true)]!);
    });

    test("suspend() records whether the app is suspended", async () => {
      const installation = await anInstallation();
      for (const suspended of [true, true, false]) {
        expect(await world().appInstallations.suspend(installation.id, suspended)).toBe(true);
        expect(await world().appInstallations.find(installation.id)).toEqual({ ...installation, suspended });
      }
    });

    test("remove() removes an installation once; another organization may connect it then", async () => {
      const { id } = await anInstallation();
      const outcomes = await Promise.all([1, 2, 3].map(() => world().appInstallations.remove(id)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await world().appInstallations.find(id)).toBeUndefined();
      const next = await anInstallation({ id });
      expect(await world().appInstallations.find(id)).toEqual(next);
    });

    test("find(), suspend() and remove() find no unknown installation", async () => {
      const id = ++lastId;
      expect(await world().appInstallations.find(id)).toBeUndefined();
      expect(await world().appInstallations.suspend(id, true)).toBe(false);
      expect(await world().appInstallations.remove(id)).toBe(false);
    });
  });
}
