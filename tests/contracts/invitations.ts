import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { Invitation } from "../../domain/identity/identity.ts";
import type { InvitationTaker } from "../../ports/identity/invitations.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import {
  aMember,
  anOrganization,
  founderOf,
  invitationOf,
  minutes,
  uniqueFingerprint,
  uniqueLabel,
} from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };
const DAY = 24 * 60;

function stranger(): InvitationTaker & { readonly kind: "new" } {
  return { kind: "new", userId: newId("usr"), name: "New", passwordHash: "hash" };
}

/** Contract tests for `Invitations` adapters. */
export function invitationsContract(
  name: string,
  open: () => Promise<WorldOf<"invitations" | "installation" | "members" | "organizations" | "users">>,
) {
  describe(`Invitations contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function anInvitation(overrides: Partial<Invitation> = {}) {
      const organizationId = overrides.organizationId ?? (await anOrganization(world())).id;
      const invitation = invitationOf({ invitedBy: (await founderOf(world())).id, ...overrides, organizationId });
      const token = await uniqueFingerprint();
      await world().invitations.create(invitation, token);
      return { invitation, token };
    }

    test("find() and findByToken() return an invitation", async () => {
      const grants = oddTexts.map((id) => ({ resource: "githost", id, action: "list" }) as const);
      const { invitation, token } = await anInvitation({ role: "restricted", grants });
      expect(await world().invitations.find(invitation.organizationId, invitation.id)).toEqual(invitation);
      expect(await world().invitations.findByToken(token)).toEqual(invitation);
    });

    test("find() and findByToken() find nothing for an unknown invitation or one of another organization", async () => {
      const { invitation } = await anInvitation();
      const other = await anOrganization(world());
      expect(await world().invitations.find(other.id, invitation.id)).toBeUndefined();
      expect(await world().invitations.find(invitation.organizationId, newId("inv"))).toBeUndefined();
      expect(await world().invitations.findByToken(await uniqueFingerprint())).toBeUndefined();
    });

    test("create() replaces an open invitation to the same address in that organization only", async () => {
      const { invitations } = world();
      const email = `${uniqueLabel()}@example.com`;
      const first = await anInvitation({ email, role: "admin" });
      const { organizationId } = first.invitation;
      const [elsewhere, other] = [await anInvitation({ email }), await anInvitation({ organizationId })];
      const second = await anInvitation({ organizationId, email, role: "viewer", createdAt: minutes(1) });
      expect(await invitations.findByToken(first.token)).toBeUndefined();
      expect(await invitations.find(organizationId, first.invitation.id)).toBeUndefined();
      expect(await invitations.accept(first.invitation.id, stranger(), minutes(2))).toBe(false);
      for (const { invitation, token } of [second, elsewhere, other])
        expect(await invitations.findByToken(token)).toEqual(invitation);
      expect(await invitations.findByEmail(organizationId, email)).toEqual(second.invitation);
      expect(await invitations.findByEmail(organizationId, `${uniqueLabel()}@example.com`)).toBeUndefined();
    });

    test("concurrent create() calls for one address keep one invitation", async () => {
      const { id: organizationId } = await anOrganization(world());
      const email = `${uniqueLabel()}@example.com`;
      const made = await Promise.all([1, 2, 3, 4].map(() => anInvitation({ organizationId, email })));
      const found = await Promise.all(made.map(({ token }) => world().invitations.findByToken(token)));
      expect(found.filter(Boolean)).toHaveLength(1);
    });

    test("sweep() removes invitations that expired before a time, and counts them", async () => {
      const { invitations } = world();
      const longAgo = new Date("1980-01-01T00:00:00.000Z");
      await invitations.sweep(longAgo);
      const before = new Date(longAgo.getTime() - 1);
      const expired = [await anInvitation({ expiresAt: before }), await anInvitation({ expiresAt: before })];
      const later = await anInvitation({ expiresAt: longAgo });
      expect(await invitations.sweep(longAgo)).toBe(2);
      for (const { token } of expired) expect(await invitations.findByToken(token)).toBeUndefined();
      expect(await invitations.findByToken(later.token)).toEqual(later.invitation);
      expect(await invitations.sweep(longAgo)).toBe(0);
    });

    test("findByToken() finds an expired invitation", async () => {
      const { invitation, token } = await anInvitation({ expiresAt: new Date("2001-01-01") });
      expect(await world().invitations.findByToken(token)).toEqual(invitation);
    });

    test("list() pages through the invitations of one organization, newest first, equal times by id", async () => {
      const { id: organizationId } = await anOrganization(world());
      const made = [];
      for (const minute of SHUFFLED_MINUTES) {
        made.push((await anInvitation({ organizationId, createdAt: minutes(minute) })).invitation);
      }
      await anInvitation();
      const expected = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id });
      await expectPages(
        (page) => world().invitations.list(organizationId, minutes(6), page),
        expected.map(({ id }) => id),
        ({ id }) => id,
      );
    });

    test("list() leaves out invitations that are expired, accepted or withdrawn", async () => {
      const { id: organizationId } = await anOrganization(world());
      const waiting = await anInvitation({ organizationId, expiresAt: minutes(DAY) });
      await anInvitation({ organizationId, expiresAt: minutes(9) });
      const taken = await anInvitation({ organizationId, expiresAt: minutes(DAY) });
      const withdrawn = await anInvitation({ organizationId, expiresAt: minutes(DAY) });
      await world().invitations.accept(taken.invitation.id, stranger(), minutes(1));
      await world().invitations.remove(organizationId, withdrawn.invitation.id);
      const listed = await world().invitations.list(organizationId, minutes(10), ALL);
      expect(listed).toEqual({ items: [waiting.invitation], total: 1 });
    });

    test("accept() makes a new user a member with the invited role and grants", async () => {
      const grants = [{ resource: "project", id: newId("prj"), action: "write" }] as const;
      const { invitation } = await anInvitation({ role: "restricted", grants });
      const taker = { ...stranger(), name: oddTexts[0]!, passwordHash: "$argon2id$x" };
      expect(await world().invitations.accept(invitation.id, taker, minutes(4))).toBe(true);
      expect(await world().users.find(taker.userId)).toEqual({
        id: taker.userId,
        email: invitation.email,
        name: taker.name,
        founder: false,
        hasPassword: true,
        createdAt: minutes(4),
      });
      expect(await world().users.passwordHash(taker.userId)).toBe("$argon2id$x");
      expect(await world().members.find(invitation.organizationId, taker.userId)).toMatchObject({
        role: "restricted",
        grants: [...grants],
        createdAt: minutes(4),
      });
    });

    test("accept() makes an existing user a member and keeps name and password", async () => {
      const userId = await aMember(world(), (await anOrganization(world())).id, { name: "Known" });
      const { email } = (await world().users.find(userId))!;
      const { invitation } = await anInvitation({ email, role: "admin" });
      const { organizationId, id } = invitation;
      expect(await world().invitations.accept(id, { kind: "known", userId }, minutes(4))).toBe(true);
      expect(await world().members.find(organizationId, userId)).toMatchObject({ role: "admin", name: "Known" });
      expect(await world().users.passwordHash(userId)).toBe("hash");
    });

    test("accept() keeps an existing membership unchanged", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId, { role: "viewer", at: minutes(1) });
      const before = await world().members.find(organizationId, userId);
      const { invitation, token } = await anInvitation({ organizationId, email: before!.email, role: "owner" });
      expect(await world().invitations.accept(invitation.id, { kind: "known", userId }, minutes(4))).toBe(true);
      expect(await world().members.find(organizationId, userId)).toEqual(before!);
      expect(await world().invitations.findByToken(token)).toBeUndefined();
    });

    test("accept() succeeds once; an accepted invitation is gone", async () => {
      const { invitation, token } = await anInvitation();
      const { id, organizationId } = invitation;
      expect(await world().invitations.accept(id, stranger(), minutes(1))).toBe(true);
      const second = await aMember(world(), (await anOrganization(world())).id);
      expect(await world().invitations.accept(id, { kind: "known", userId: second }, minutes(2))).toBe(false);
      expect(await world().members.find(organizationId, second)).toBeUndefined();
      expect(await world().invitations.findByToken(token)).toBeUndefined();
      expect(await world().invitations.find(organizationId, id)).toBeUndefined();
      expect(await world().invitations.remove(organizationId, id)).toBe(false);
    });

    test("accept() refuses an unknown invitation", async () => {
      const taker = stranger();
      expect(await world().invitations.accept(newId("inv"), taker, minutes(1))).toBe(false);
      expect(await world().users.find(taker.userId)).toBeUndefined();
    });

    test("accept() refuses a new user whose address is taken, and keeps the invitation", async () => {
      const known = await aMember(world(), (await anOrganization(world())).id);
      const { email } = (await world().users.find(known))!;
      const { invitation, token } = await anInvitation({ email });
      const taker = stranger();
      await expect(world().invitations.accept(invitation.id, taker, minutes(1))).rejects.toMatchObject({
        kind: "conflict",
        code: "email_taken",
      });
      expect(await world().users.find(taker.userId)).toBeUndefined();
      expect(await world().members.find(invitation.organizationId, taker.userId)).toBeUndefined();
      expect(await world().invitations.findByToken(token)).toEqual(invitation);
    });

    test("concurrent accept() of one invitation by several existing users succeeds once", async () => {
      const people = [];
      for (let index = 0; index < 4; index++) {
        people.push(await aMember(world(), (await anOrganization(world())).id));
      }
      const { invitation } = await anInvitation();
      const outcomes = await Promise.all(
        people.map((userId) => world().invitations.accept(invitation.id, { kind: "known", userId }, minutes(1))),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      // The first owner and the accepted member.
      expect((await world().members.list(invitation.organizationId, ALL)).total).toBe(2);
    });

    test("concurrent accept() of one invitation by several new users succeeds once", async () => {
      const { invitation } = await anInvitation();
      const newcomers = Array.from({ length: 4 }, stranger);
      const outcomes = await Promise.allSettled(
        newcomers.map((taker) => world().invitations.accept(invitation.id, taker, minutes(1))),
      );
      const won = outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value);
      expect(won).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "email_taken" });
      }
      const stored = await Promise.all(newcomers.map(({ userId }) => world().users.find(userId)));
      expect(stored.filter(Boolean)).toHaveLength(1);
      expect((await world().members.list(invitation.organizationId, ALL)).total).toBe(2);
    });

    test("concurrent accept() of two invitations to one address creates one new user", async () => {
      const email = `twice-${uniqueLabel()}@example.com`;
      const invited = [await anInvitation({ email }), await anInvitation({ email })];
      const outcomes = await Promise.allSettled(
        invited.map(({ invitation }) => world().invitations.accept(invitation.id, stranger(), minutes(1))),
      );
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused).toHaveLength(1);
      expect(refused[0]!.reason).toMatchObject({ kind: "conflict", code: "email_taken" });
    });

    test("of concurrent accept() and remove(), one succeeds", async () => {
      for (let round = 0; round < 5; round++) {
        const { invitation } = await anInvitation();
        const taker = stranger();
        const [accepted, removed] = await Promise.all([
          world().invitations.accept(invitation.id, taker, minutes(1)),
          world().invitations.remove(invitation.organizationId, invitation.id),
        ]);
        expect(accepted).toBe(!removed);
        expect((await world().users.find(taker.userId)) !== undefined).toBe(accepted);
      }
    });

    test("remove() withdraws an invitation of the organization once", async () => {
      const { invitation, token } = await anInvitation();
      const { id, organizationId } = invitation;
      const other = await anOrganization(world());
      expect(await world().invitations.remove(other.id, id)).toBe(false);
      expect(await world().invitations.findByToken(token)).toEqual(invitation);
      expect(await world().invitations.remove(organizationId, id)).toBe(true);
      expect(await world().invitations.findByToken(token)).toBeUndefined();
      expect(await world().invitations.remove(organizationId, id)).toBe(false);
      expect(await world().invitations.accept(id, stranger(), minutes(1))).toBe(false);
    });
  });
}
