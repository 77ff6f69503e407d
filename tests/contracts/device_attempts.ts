import { beforeEach, describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import type { DeviceAttempt } from "../../ports/githost/connect_attempts.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization, minutes, uniqueLabel } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const FAR = new Date("2999-01-01T00:00:00.000Z");

/** Contract tests for the logins on another device of `ConnectAttempts` adapters. */
export function deviceAttemptsContract(
  name: string,
  open: () => Promise<WorldOf<"connectAttempts" | "installation" | "invitations" | "members" | "organizations">>,
) {
  describe(`ConnectAttempts contract, devices: ${name}`, () => {
    const world = sharedWorld(open);

    // Due logins of former tests would be taken instead.
    beforeEach(async () => {
      await world().connectAttempts.sweep(FAR);
    });

    async function anAttempt(overrides: Partial<DeviceAttempt> = {}): Promise<DeviceAttempt> {
      const organizationId = overrides.organizationId ?? (await anOrganization(world())).id;
      const attempt: DeviceAttempt = {
        organizationId,
        userId: overrides.userId ?? (await aMember(world(), organizationId)),
        deviceCode: new Secret(uniqueLabel()),
        userCode: uniqueLabel(),
        verificationUri: "https://git.example.com/login/device",
        intervalSeconds: 5,
        nextCheckAt: minutes(1),
        expiresAt: minutes(15),
        status: "pending",
        ...overrides,
      };
      await world().connectAttempts.putDevice(attempt);
      return attempt;
    }

    function stored({ organizationId, userId }: Pick<DeviceAttempt, "organizationId" | "userId">) {
      return world().connectAttempts.device(organizationId, userId);
    }

    test("device() returns a login with its device code", async () => {
      const attempt = await anAttempt();
      const found = await stored(attempt);
      expect(found).toEqual(attempt);
      expect(found?.deviceCode.reveal()).toBe(attempt.deviceCode.reveal());
      expect(Bun.inspect(found)).not.toContain(attempt.deviceCode.reveal());
      expect(await stored({ ...attempt, userId: newId("usr") })).toBeUndefined();
    });

    test.each(oddTexts)("device() returns %j unchanged", async (text) => {
      const attempt = await anAttempt({ deviceCode: new Secret(text), userCode: text, verificationUri: text });
      const found = await stored(attempt);
      expect(found).toMatchObject({ userCode: text, verificationUri: text });
      expect(found?.deviceCode.reveal()).toBe(text);
    });

    test("putDevice() replaces the login of that user in that organization alone", async () => {
      const former = await anAttempt({ status: "denied" });
      const colleague = await anAttempt({ organizationId: former.organizationId });
      const { organizationId, userId } = former;
      const next = await anAttempt({ organizationId, userId, intervalSeconds: 9, expiresAt: minutes(30) });
      expect(await stored(former)).toEqual(next);
      expect((await stored(former))?.deviceCode.reveal()).toBe(next.deviceCode.reveal());
      expect(await stored(colleague)).toEqual(colleague);
    });

    test("takeDueDevice() returns the login that is due longest and moves its next check", async () => {
      await anAttempt({ nextCheckAt: minutes(3) });
      const later = await anAttempt({ nextCheckAt: minutes(2), intervalSeconds: 30 });
      const sooner = await anAttempt({ nextCheckAt: minutes(1), intervalSeconds: 60 });
      expect(await world().connectAttempts.takeDueDevice(minutes(0))).toBeUndefined();
      const taken = await world().connectAttempts.takeDueDevice(minutes(2));
      expect(taken).toEqual({ ...sooner, nextCheckAt: minutes(3) });
      expect(taken?.deviceCode.reveal()).toBe(sooner.deviceCode.reveal());
      expect(await stored(sooner)).toEqual({ ...sooner, nextCheckAt: minutes(3) });
      const next = await world().connectAttempts.takeDueDevice(minutes(2));
      expect(next).toEqual({ ...later, nextCheckAt: minutes(2.5) });
      expect(await world().connectAttempts.takeDueDevice(minutes(2))).toBeUndefined();
    });

    test("of concurrent takeDueDevice() calls, one gets a login", async () => {
      const attempts = [await anAttempt(), await anAttempt(), await anAttempt()];
      const takes = Array.from({ length: 20 }, () => world().connectAttempts.takeDueDevice(minutes(2)));
      const taken = (await Promise.all(takes)).flatMap((attempt) => attempt?.userCode ?? []);
      // A caller that finds a login locked by another one may get none.
      for (let next; (next = await world().connectAttempts.takeDueDevice(minutes(2)));) taken.push(next.userCode);
      expect(taken.toSorted()).toEqual(attempts.map(({ userCode }) => userCode).toSorted());
    });

    test("takeDueDevice() lets logins expire instead of returning them", async () => {
      const attempts = [await anAttempt({ expiresAt: minutes(2) }), await anAttempt({ expiresAt: minutes(1) })];
      const settled = await anAttempt({ expiresAt: minutes(1), status: "complete" });
      const due = await anAttempt();
      expect((await world().connectAttempts.takeDueDevice(minutes(2)))?.userCode).toBe(due.userCode);
      for (const attempt of attempts) expect(await stored(attempt)).toEqual({ ...attempt, status: "expired" });
      expect(await stored(settled)).toEqual(settled);
    });

    test.each(["complete", "denied", "expired"] as const)(
      "takeDueDevice() never returns a login that is %s",
      async (status) => {
        await anAttempt({ status });
        expect(await world().connectAttempts.takeDueDevice(minutes(2))).toBeUndefined();
      },
    );

    test("settleDevice() records the outcome of a check, once it is final for good", async () => {
      const attempt = await anAttempt();
      const pending = { status: "pending", intervalSeconds: 10, nextCheckAt: minutes(4) } as const;
      await world().connectAttempts.settleDevice(attempt, pending);
      expect(await stored(attempt)).toEqual({ ...attempt, ...pending });
      const complete = { status: "complete", intervalSeconds: 10, nextCheckAt: minutes(5) } as const;
      await world().connectAttempts.settleDevice(attempt, complete);
      await world().connectAttempts.settleDevice(attempt, { ...pending, status: "denied" });
      await world().connectAttempts.settleDevice(attempt, pending);
      expect(await stored(attempt)).toEqual({ ...attempt, ...complete });
    });

    test("settleDevice() ignores the outcome of a login that was replaced or is unknown", async () => {
      const former = await anAttempt();
      const { organizationId, userId } = former;
      const next = await anAttempt({ organizationId, userId });
      const outcome = { status: "denied", intervalSeconds: 1, nextCheckAt: minutes(9) } as const;
      await world().connectAttempts.settleDevice(former, outcome);
      await world().connectAttempts.settleDevice({ ...next, userId: newId("usr") }, outcome);
      expect(await stored(next)).toEqual(next);
    });

    test("a login is forgotten when its user leaves the organization", async () => {
      const attempt = await anAttempt();
      await world().members.remove(attempt.organizationId, attempt.userId);
      expect(await stored(attempt)).toBeUndefined();
      expect(await world().connectAttempts.takeDueDevice(minutes(2))).toBeUndefined();
    });

    test("sweep() removes logins that expired before a time, whatever became of them, and counts them", async () => {
      const made = [];
      for (const status of ["pending", "complete", "denied", "expired"] as const)
        made.push(await anAttempt({ status }));
      const kept = await anAttempt({ expiresAt: minutes(20) });
      expect(await world().connectAttempts.sweep(minutes(20))).toBe(4);
      expect(await world().connectAttempts.sweep(minutes(20))).toBe(0);
      for (const attempt of made) expect(await stored(attempt)).toBeUndefined();
      expect(await stored(kept)).toEqual(kept);
    });
  });
}
