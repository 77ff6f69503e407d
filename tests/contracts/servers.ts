import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import type { Server, ServerCredentials } from "../../domain/servers/server.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, minutes, START } from "../support/database/store_builders.ts";
import { NO_CREDENTIALS, SERVER_ADDRESS as ADDRESS, serverOf } from "../support/database/server_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };
const KEY = `SHA256:${"A".repeat(43)}`;
const OTHER_KEY = `SHA256:${"B".repeat(42)}A`;
const FULL_CREDENTIALS: ServerCredentials = {
  sshPassword: new Secret(oddTexts.join("|")),
  sshPrivateKey: new Secret(`-----BEGIN KEY-----\n${"k".repeat(10_000)}\n-----END KEY-----\n`),
  sshKeyPassphrase: new Secret(""),
};

function revealed(credentials: ServerCredentials | undefined) {
  return (
    credentials && {
      sshPassword: credentials.sshPassword?.reveal(),
      sshPrivateKey: credentials.sshPrivateKey?.reveal(),
      sshKeyPassphrase: credentials.sshKeyPassphrase?.reveal(),
    }
  );
}

/** Contract tests for `Servers` adapters. */
export function serversContract(
  name: string,
  open: () => Promise<WorldOf<"servers" | "installation" | "organizations">>,
) {
  describe(`Servers contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function anOrganizationId(): Promise<string> {
      return (await anOrganization(world())).id;
    }

    async function aServer(overrides: Partial<Server> = {}, credentials = NO_CREDENTIALS): Promise<Server> {
      const organizationId = overrides.organizationId ?? (await anOrganizationId());
      const server = serverOf({
        ...overrides,
        organizationId,
        hasSshPassword: credentials.sshPassword !== null,
        hasSshPrivateKey: credentials.sshPrivateKey !== null,
        hasSshKeyPassphrase: credentials.sshKeyPassphrase !== null,
      });
      await world().servers.create(server, credentials);
      return server;
    }

    test.each(oddTexts)("find() returns a server named %j", async (text) => {
      const server = await aServer({ name: text, hostKey: KEY, lastCheckedAt: minutes(1), lastCheckError: text });
      expect(await world().servers.find(server.organizationId, server.id)).toEqual(server);
    });

    test("credentials() returns secrets unchanged; find() and list() only report that they exist", async () => {
      const server = await aServer({}, FULL_CREDENTIALS);
      const { organizationId, id } = server;
      const credentials = await world().servers.credentials(organizationId, id);
      expect(revealed(credentials)).toEqual(revealed(FULL_CREDENTIALS)!);
      expect(credentials!.sshPassword).toBeInstanceOf(Secret);
      expect(await world().servers.find(organizationId, id)).toEqual(server);
      expect((await world().servers.list(organizationId, {}, ALL)).items).toEqual([server]);
    });

    test("credentials() returns absent secrets as null", async () => {
      const { organizationId, id } = await aServer({}, { ...NO_CREDENTIALS, sshPassword: new Secret("x") });
      expect(await world().servers.credentials(organizationId, id)).toMatchObject({
        sshPrivateKey: null,
        sshKeyPassphrase: null,
      });
    });

    test("no method reaches a server of another organization", async () => {
      const server = await aServer({}, FULL_CREDENTIALS);
      const other = await anOrganizationId();
      const { id, organizationId } = server;
      expect(await world().servers.find(other, id)).toBeUndefined();
      expect(await world().servers.credentials(other, id)).toBeUndefined();
      expect(
        await world().servers.change(other, id, { change: { name: "Stolen", sshPassword: null }, at: START }),
      ).toBeUndefined();
      const check = { ...ADDRESS, at: minutes(1), error: "x", hostKey: KEY };
      expect(await world().servers.checked(other, id, check)).toBeUndefined();
      expect(await world().servers.remove(other, id)).toBe(false);
      expect(await world().servers.list(other, { ids: [id] }, ALL)).toEqual({ items: [], total: 0 });
      expect(await world().servers.find(organizationId, id)).toEqual(server);
      expect(revealed(await world().servers.credentials(organizationId, id))).toEqual(revealed(FULL_CREDENTIALS)!);
    });

    test("no method finds an unknown server", async () => {
      const organizationId = await anOrganizationId();
      const id = newId("srv");
      expect(await world().servers.find(organizationId, id)).toBeUndefined();
      expect(await world().servers.credentials(organizationId, id)).toBeUndefined();
      expect(await world().servers.change(organizationId, id, { change: {}, at: START })).toBeUndefined();
      const check = { ...ADDRESS, at: START, error: null, hostKey: KEY };
      expect(await world().servers.checked(organizationId, id, check)).toBeUndefined();
      expect(await world().servers.remove(organizationId, id)).toBe(false);
    });

    test("list() pages through the servers of one organization, newest first, equal times by id", async () => {
      const organizationId = await anOrganizationId();
      const made = [];
      for (const minute of SHUFFLED_MINUTES) made.push(await aServer({ organizationId, createdAt: minutes(minute) }));
      await aServer();
      const expected = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id });
      await expectPages(
        (page) => world().servers.list(organizationId, {}, page),
        expected.map(({ id }) => id),
        ({ id }) => id,
      );
    });

    test("list() by ids returns only servers of the organization, page by page", async () => {
      const organizationId = await anOrganizationId();
      const made = [];
      for (const minute of [1, 2, 3]) made.push(await aServer({ organizationId, createdAt: minutes(minute) }));
      await aServer({ organizationId });
      const ids = [...made.map(({ id }) => id), (await aServer()).id, newId("srv")];
      await expectPages(
        (page) => world().servers.list(organizationId, { ids }, page),
        made.map(({ id }) => id).toReversed(),
        ({ id }) => id,
      );
      expect(await world().servers.list(organizationId, { ids: [] }, ALL)).toEqual({ items: [], total: 0 });
    });

    test.each([
      ["Production", "PRODUCTION"],
      ["Äußerer Knoten", "äußerer knoten"],
      ["a%_b", "A%_B"],
    ])("create() refuses the name %j again as %j, but not in another organization", async (first, second) => {
      const { organizationId } = await aServer({ name: first });
      const rival = serverOf({ organizationId, name: second });
      await expect(world().servers.create(rival, NO_CREDENTIALS)).rejects.toMatchObject({
        kind: "conflict",
        code: "name_taken",
      });
      expect(await world().servers.find(organizationId, rival.id)).toBeUndefined();
      const elsewhere = await aServer({ name: first });
      expect(await world().servers.find(elsewhere.organizationId, elsewhere.id)).toEqual(elsewhere);
    });

    test("create() does not treat a wildcard as another name", async () => {
      const { organizationId } = await aServer({ name: "web1" });
      const second = await aServer({ organizationId, name: "web_" });
      expect(await world().servers.find(organizationId, second.id)).toEqual(second);
    });

    test("concurrent create() calls with one name succeed once", async () => {
      const organizationId = await anOrganizationId();
      const names = ["race", "Race", "RACE", "rAcE"];
      const outcomes = await Promise.allSettled(
        names.map((text) => world().servers.create(serverOf({ organizationId, name: text }), NO_CREDENTIALS)),
      );
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused).toHaveLength(3);
      for (const { reason } of refused) expect(reason).toMatchObject({ kind: "conflict", code: "name_taken" });
      expect((await world().servers.list(organizationId, {}, ALL)).total).toBe(1);
    });

    test("change() changes the given fields and keeps the rest", async () => {
      const server = await aServer({ hostKey: KEY }, FULL_CREDENTIALS);
      const { organizationId, id } = server;
      const change = { name: "Renamed", sshUser: "root" };
      const expected = { ...server, ...change, updatedAt: minutes(5) };
      expect(await world().servers.change(organizationId, id, { change, at: minutes(5) })).toEqual(expected);
      expect(await world().servers.find(organizationId, id)).toEqual(expected);
      expect(revealed(await world().servers.credentials(organizationId, id))).toEqual(revealed(FULL_CREDENTIALS)!);
    });

    test("change() replaces one credential, clears another and keeps the third", async () => {
      const { organizationId, id } = await aServer({}, FULL_CREDENTIALS);
      const change = { sshPassword: new Secret("new"), sshKeyPassphrase: null };
      const changed = await world().servers.change(organizationId, id, { change, at: START });
      expect(changed).toMatchObject({ hasSshPassword: true, hasSshPrivateKey: true, hasSshKeyPassphrase: false });
      expect(await world().servers.find(organizationId, id)).toEqual(changed!);
      expect(revealed(await world().servers.credentials(organizationId, id))).toEqual({
        sshPassword: "new",
        sshPrivateKey: FULL_CREDENTIALS.sshPrivateKey!.reveal(),
        sshKeyPassphrase: undefined,
      });
    });

    test("change() sets the first credential of a server", async () => {
      const { organizationId, id } = await aServer();
      const change = { sshPrivateKey: new Secret("key") };
      const changed = await world().servers.change(organizationId, id, { change, at: START });
      expect(changed).toMatchObject({ hasSshPrivateKey: true, hasSshPassword: false });
    });

    test.each([{ sshHost: "other.example.com" }, { sshPort: 2222 }])(
      "change() to %j clears the recorded host key",
      async (change) => {
        const { organizationId, id } = await aServer({ hostKey: KEY });
        const changed = await world().servers.change(organizationId, id, { change, at: START });
        expect(changed).toMatchObject({ ...change, hostKey: null });
        expect(await world().servers.find(organizationId, id)).toEqual(changed!);
      },
    );

    test("change() to a new host with its key keeps that key", async () => {
      const { organizationId, id } = await aServer({ hostKey: KEY });
      const change = { sshHost: "other.example.com", hostKey: OTHER_KEY };
      expect(await world().servers.change(organizationId, id, { change, at: START })).toMatchObject(change);
    });

    test("change() to the current host and port keeps the recorded key", async () => {
      const { organizationId, id, sshHost, sshPort } = await aServer({ hostKey: KEY });
      const change = { sshHost, sshPort };
      expect(await world().servers.change(organizationId, id, { change, at: START })).toMatchObject({ hostKey: KEY });
    });

    test("change() replaces and clears a host key", async () => {
      const { organizationId, id } = await aServer({ hostKey: KEY });
      for (const hostKey of [OTHER_KEY, null]) {
        const how = { change: { hostKey }, at: START };
        expect(await world().servers.change(organizationId, id, how)).toMatchObject({ hostKey });
      }
    });

    test("change() refuses a name that another server has, in any case, and changes nothing", async () => {
      const { organizationId } = await aServer({ name: "Taken" });
      const server = await aServer({ organizationId }, FULL_CREDENTIALS);
      const change = { name: "tAKEN", sshUser: "root", sshPassword: null };
      await expect(world().servers.change(organizationId, server.id, { change, at: minutes(5) })).rejects.toMatchObject(
        { kind: "conflict", code: "name_taken" },
      );
      expect(await world().servers.find(organizationId, server.id)).toEqual(server);
      expect(revealed(await world().servers.credentials(organizationId, server.id))).toEqual(
        revealed(FULL_CREDENTIALS)!,
      );
    });

    test("change() to the current name in another case is no conflict", async () => {
      const { organizationId, id } = await aServer({ name: "Mine" });
      const how = { change: { name: "MINE" }, at: START };
      expect(await world().servers.change(organizationId, id, how)).toMatchObject({ name: "MINE" });
    });

    test("concurrent change() calls for different fields all take effect", async () => {
      const { organizationId, id } = await aServer({}, FULL_CREDENTIALS);
      const changes = [{ name: "Together" }, { sshUser: "root" }, { sshPassword: null }, { hostKey: KEY }];
      await Promise.all(changes.map((change) => world().servers.change(organizationId, id, { change, at: START })));
      expect(await world().servers.find(organizationId, id)).toMatchObject({
        name: "Together",
        sshUser: "root",
        hasSshPassword: false,
        hasSshPrivateKey: true,
        hostKey: KEY,
      });
    });

    test("checked() records the time, the result and the first host key", async () => {
      const server = await aServer();
      const { organizationId, id } = server;
      const good = await world().servers.checked(organizationId, id, {
        ...ADDRESS,
        at: minutes(1),
        error: null,
        hostKey: KEY,
      });
      expect(good).toMatchObject({ lastCheckedAt: minutes(1), lastCheckError: null, hostKey: KEY });
      const bad = await world().servers.checked(organizationId, id, {
        ...ADDRESS,
        at: minutes(2),
        error: oddTexts[0]!,
        hostKey: null,
      });
      expect(bad).toMatchObject({ lastCheckedAt: minutes(2), lastCheckError: oddTexts[0]!, hostKey: KEY });
      expect(await world().servers.find(organizationId, id)).toEqual(bad!);
    });

    test("checked() does not replace a recorded host key", async () => {
      const { organizationId, id } = await aServer({ hostKey: KEY });
      const check = { ...ADDRESS, at: minutes(1), error: null, hostKey: OTHER_KEY };
      expect(await world().servers.checked(organizationId, id, check)).toMatchObject({ hostKey: KEY });
      expect(await world().servers.find(organizationId, id)).toMatchObject({ hostKey: KEY });
    });

    test("checked() does nothing when the server moved during the check", async () => {
      const { organizationId, id } = await aServer();
      await world().servers.change(organizationId, id, { change: { sshHost: "moved.example.com" }, at: START });
      const moved = await world().servers.find(organizationId, id);
      const check = { ...ADDRESS, at: minutes(1), error: null, hostKey: KEY };
      expect(await world().servers.checked(organizationId, id, check)).toEqual(moved!);
      expect(await world().servers.find(organizationId, id)).toEqual(moved!);
    });

    test("concurrent checked() calls with different keys record one of them for both", async () => {
      const { organizationId, id } = await aServer();
      const results = await Promise.all(
        [KEY, OTHER_KEY].map((hostKey) =>
          world().servers.checked(organizationId, id, { ...ADDRESS, at: START, error: null, hostKey }),
        ),
      );
      const stored = (await world().servers.find(organizationId, id))!.hostKey;
      expect([KEY, OTHER_KEY]).toContain(stored!);
      expect(results.map((server) => server?.hostKey)).toEqual([stored, stored]);
    });

    test("remove() removes a server with its credentials, once, and frees its name", async () => {
      const server = await aServer({ name: "Gone" }, FULL_CREDENTIALS);
      const { organizationId, id } = server;
      const outcomes = await Promise.all([1, 2, 3].map(() => world().servers.remove(organizationId, id)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await world().servers.find(organizationId, id)).toBeUndefined();
      expect(await world().servers.credentials(organizationId, id)).toBeUndefined();
      const next = await aServer({ organizationId, name: "gone" });
      expect(await world().servers.find(organizationId, next.id)).toEqual(next);
    });
  });
}
