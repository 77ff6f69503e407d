import { describe, expect, test } from "bun:test";
import type { ConnectAttempt } from "../../ports/githost/connect_attempts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization, minutes, uniqueFingerprint } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const LONG_AGO = new Date("1985-01-01T00:00:00.000Z");

/** Contract tests for the attempts of `ConnectAttempts` adapters that return with a state. */
export function connectAttemptsContract(
  name: string,
  open: () => Promise<WorldOf<"connectAttempts" | "installation" | "invitations" | "members" | "organizations">>,
) {
  describe(`ConnectAttempts contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function anAttempt(overrides: Partial<ConnectAttempt> = {}): Promise<ConnectAttempt> {
      const organizationId = overrides.organizationId ?? (await anOrganization(world())).id;
      const attempt = {
        stateHash: await uniqueFingerprint(),
        organizationId,
        userId: overrides.userId ?? (await aMember(world(), organizationId)),
        installationId: null,
        startedAt: minutes(0),
        expiresAt: minutes(10),
        ...overrides,
      };
      await world().connectAttempts.put(attempt);
      return attempt;
    }

    test("take() returns an attempt and forgets it", async () => {
      const attempt = await anAttempt();
      const other = await anAttempt({ installationId: 2 ** 40 });
      expect(await world().connectAttempts.take(attempt.stateHash, minutes(1))).toEqual(attempt);
      expect(await world().connectAttempts.take(attempt.stateHash, minutes(1))).toBeUndefined();
      expect(await world().connectAttempts.take(other.stateHash, minutes(1))).toEqual(other);
    });

    test("find() returns an attempt that has not expired, and does not forget it", async () => {
      const attempt = await anAttempt();
      for (const now of [minutes(1), minutes(2)]) {
        expect(await world().connectAttempts.find(attempt.stateHash, now)).toEqual(attempt);
      }
      expect(await world().connectAttempts.find(attempt.stateHash, attempt.expiresAt)).toBeUndefined();
      expect(await world().connectAttempts.find(await uniqueFingerprint(), minutes(1))).toBeUndefined();
    });

    test("of concurrent take() calls with one state, one gets the attempt", async () => {
      const attempt = await anAttempt();
      const takes = Array.from({ length: 20 }, () => world().connectAttempts.take(attempt.stateHash, minutes(1)));
      expect((await Promise.all(takes)).filter(Boolean)).toEqual([attempt]);
    });

    test("take() returns neither an unknown nor an expired attempt", async () => {
      const attempt = await anAttempt();
      expect(await world().connectAttempts.take(await uniqueFingerprint(), minutes(1))).toBeUndefined();
      for (const late of [attempt.expiresAt, minutes(60)]) {
        expect(await world().connectAttempts.take(attempt.stateHash, late)).toBeUndefined();
      }
    });

    test("put() replaces an attempt with the same state", async () => {
      const former = await anAttempt();
      const next = { ...former, installationId: 5, startedAt: minutes(2), expiresAt: minutes(12) };
      await world().connectAttempts.put(next);
      expect(await world().connectAttempts.take(former.stateHash, minutes(11))).toEqual(next);
    });

    test("an attempt is forgotten when its user leaves the organization", async () => {
      const attempt = await anAttempt();
      await world().members.remove(attempt.organizationId, attempt.userId);
      expect(await world().connectAttempts.take(attempt.stateHash, minutes(1))).toBeUndefined();
    });

    test("sweep() removes attempts that expired before a time, and counts them", async () => {
      await world().connectAttempts.sweep(LONG_AGO);
      const before = new Date(LONG_AGO.getTime() - 1);
      const expired = [await anAttempt({ expiresAt: before }), await anAttempt({ expiresAt: before })];
      const kept = await anAttempt({ expiresAt: LONG_AGO });
      expect(await world().connectAttempts.sweep(LONG_AGO)).toBe(2);
      expect(await world().connectAttempts.sweep(LONG_AGO)).toBe(0);
      const earlier = new Date(LONG_AGO.getTime() - 60_000);
      for (const { stateHash } of expired) {
        expect(await world().connectAttempts.take(stateHash, earlier)).toBeUndefined();
      }
      expect(await world().connectAttempts.take(kept.stateHash, earlier)).toEqual(kept);
    });
  });
}
