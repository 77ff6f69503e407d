import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { AuditEntry } from "../../ports/identity/audit_log.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization, founderOf, minutes, START } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };

/** Contract tests for `AuditLog` adapters. */
export function auditLogContract(
  name: string,
  open: () => Promise<WorldOf<"auditLog" | "installation" | "invitations" | "organizations">>,
) {
  describe(`AuditLog contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function anEntry(overrides: Partial<AuditEntry> & Pick<AuditEntry, "organizationId">): Promise<AuditEntry> {
      const entry: AuditEntry = {
        id: newId("aud", overrides.at ?? START),
        userId: (await founderOf(world())).id,
        credential: { kind: "token", id: newId("tok") },
        actingFor: null,
        action: "project.create",
        target: null,
        changed: [],
        at: START,
        from: "192.0.2.1",
        requestId: crypto.randomUUID(),
        outcome: "started",
        ...overrides,
      };
      await world().auditLog.record(entry);
      return entry;
    }

    test("sweep() removes entries from before a time, many of them too, and counts them", async () => {
      const longAgo = new Date("1980-01-01T00:00:00.000Z");
      while ((await world().auditLog.sweep(longAgo)) > 0);
      const { id: organizationId } = await anOrganization(world());
      const kept = await anEntry({ organizationId, at: longAgo });
      for (let count = 1; count <= 20; count++) {
        await anEntry({ organizationId, at: new Date(longAgo.getTime() - count), outcome: "succeeded" });
      }
      expect(await world().auditLog.sweep(longAgo)).toBe(20);
      expect(await world().auditLog.list(organizationId, {}, ALL)).toEqual({ items: [kept], total: 1 });
      expect(await world().auditLog.sweep(longAgo)).toBe(0);
    });

    test.each(["token", "session", "password", "invitation"] as const)(
      "list() returns an entry recorded by a %s",
      async (kind) => {
        const { id: organizationId } = await anOrganization(world());
        const entry = await anEntry({ organizationId, credential: { kind, id: newId("ses") }, target: newId("prj") });
        expect(await world().auditLog.list(organizationId, {}, ALL)).toEqual({ items: [entry], total: 1 });
      },
    );

    test("list() returns the member of a linked installation", async () => {
      const { id: organizationId } = await anOrganization(world());
      const actingFor = { id: "usr_1", email: 'ö "quoted" \\ null@example.com' };
      const entry = await anEntry({ organizationId, actingFor });
      expect(await world().auditLog.list(organizationId, {}, ALL)).toEqual({ items: [entry], total: 1 });
    });

    test("list() returns the names of the changed fields in their order", async () => {
      const { id: organizationId } = await anOrganization(world());
      const changed = ["name", "buildCommand", 'odd "name", {x} \\\\ null', "NULL", ""];
      const entry = await anEntry({ organizationId, changed });
      expect(await world().auditLog.list(organizationId, {}, ALL)).toEqual({ items: [entry], total: 1 });
    });

    test.each(oddTexts)("list() returns the texts %j unchanged", async (text) => {
      const { id: organizationId } = await anOrganization(world());
      const entry = await anEntry({ organizationId, target: text, from: text, requestId: text });
      await anEntry({ organizationId });
      expect(await world().auditLog.list(organizationId, { target: text }, ALL)).toEqual({ items: [entry], total: 1 });
    });

    test("list() pages through the entries of one organization, newest first, equal times by id", async () => {
      const { id: organizationId } = await anOrganization(world());
      const other = await anOrganization(world());
      const made = [];
      for (const minute of SHUFFLED_MINUTES) made.push(await anEntry({ organizationId, at: minutes(minute) }));
      await anEntry({ organizationId: other.id });
      const expected = newestFirst(made, { at: ({ at }) => at, id: ({ id }) => id });
      await expectPages(
        (page) => world().auditLog.list(organizationId, {}, page),
        expected.map(({ id }) => id),
        ({ id }) => id,
      );
    });

    test("list() returns only entries that match every filter, page by page", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId);
      const target = newId("srv");
      const wanted = { organizationId, userId, action: "server.change", target };
      const made = [];
      for (const minute of [1, 2, 3]) made.push(await anEntry({ ...wanted, at: minutes(minute) }));
      const otherUser = await anEntry({ organizationId, action: "server.change", target, at: minutes(4) });
      const otherAction = await anEntry({ ...wanted, action: "server.changed", at: minutes(5) });
      const otherTarget = await anEntry({ ...wanted, target: null, at: minutes(6) });
      const ids = made.map(({ id }) => id).toReversed();
      const list = async (filter: object) =>
        (await world().auditLog.list(organizationId, filter, ALL)).items.map(({ id }) => id);
      expect(await list({ userId })).toEqual([otherTarget.id, otherAction.id, ...ids]);
      expect(await list({ action: "server.change" })).toEqual([otherTarget.id, otherUser.id, ...ids]);
      expect(await list({ target })).toEqual([otherAction.id, otherUser.id, ...ids]);
      const all = { userId, action: "server.change", target };
      await expectPages(
        (page) => world().auditLog.list(organizationId, all, page),
        ids,
        ({ id }) => id,
      );
    });

    test("list() treats wildcards in a filter literally", async () => {
      const { id: organizationId } = await anOrganization(world());
      await anEntry({ organizationId, action: "project.create", target: "abc" });
      for (const filter of [{ action: "project%" }, { action: "project_create" }, { target: "a_c" }, { target: "%" }]) {
        expect(await world().auditLog.list(organizationId, filter, ALL)).toEqual({ items: [], total: 0 });
      }
    });

    test.each(["succeeded", "refused", "failed"] as const)("finish() records the outcome %s", async (outcome) => {
      const { id: organizationId } = await anOrganization(world());
      const entry = await anEntry({ organizationId });
      const untouched = await anEntry({ organizationId, at: minutes(-1) });
      const target = newId("prj");
      await world().auditLog.finish(entry.id, { outcome, target });
      expect((await world().auditLog.list(organizationId, {}, ALL)).items).toEqual([
        { ...entry, outcome, target },
        untouched,
      ]);
    });

    test("finish() without a target keeps the recorded one", async () => {
      const { id: organizationId } = await anOrganization(world());
      const entry = await anEntry({ organizationId, target: newId("prj") });
      await world().auditLog.finish(entry.id, { outcome: "failed", target: null });
      expect((await world().auditLog.list(organizationId, {}, ALL)).items).toEqual([{ ...entry, outcome: "failed" }]);
    });
  });
}
