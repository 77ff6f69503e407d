import { describe, expect, test } from "bun:test";
import type { IdempotentRequest } from "../../ports/idempotent_answers.ts";
import { oddTexts } from "../support/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { minutes, uniqueLabel } from "../support/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const LEASE_MS = 60_000;
const ANSWER = { status: 201, body: '{"data":{"name":"O\'Brien 🚀 $1"}}' };
const DAY = 24 * 60;

function lease(minute: number) {
  return { at: minutes(minute), leaseMs: LEASE_MS };
}

function requestOf(overrides: Partial<IdempotentRequest> = {}): IdempotentRequest {
  return { caller: uniqueLabel(), key: uniqueLabel(), route: "POST /api/projects?x=1", body: "aa", ...overrides };
}

/** What every `IdempotentAnswers` adapter promises. */
export function idempotentAnswersContract(name: string, open: () => Promise<WorldOf<"idempotentAnswers">>) {
  describe(`IdempotentAnswers contract: ${name}`, () => {
    const world = sharedWorld(open);

    /** Claims, and tells the id of a claim that must succeed. */
    async function claimed(request: IdempotentRequest, minute = 0): Promise<string> {
      const claim = await world().idempotentAnswers.claim(request, lease(minute));
      if (claim.state !== "mine") throw new Error(`The claim is ${claim.state}`);
      return claim.claimId;
    }

    async function stateOf(request: IdempotentRequest, minute = 0.5): Promise<string> {
      return (await world().idempotentAnswers.claim(request, lease(minute))).state;
    }

    test("claim() is the first one's; the same request then finds it running", async () => {
      const request = requestOf();
      await claimed(request);
      expect(await stateOf(request)).toBe("running");
    });

    test("claim() of one key by several at once is one's alone", async () => {
      const request = requestOf();
      const claims = await Promise.all(
        Array.from({ length: 8 }, () => world().idempotentAnswers.claim(request, lease(0))),
      );
      const states = claims.map(({ state }) => state).toSorted();
      expect(states).toEqual(["mine", ...Array<"running">(7).fill("running")]);
    });

    test("claim() tells callers and keys apart, whatever they hold", async () => {
      const label = uniqueLabel();
      for (const text of oddTexts) {
        await claimed(requestOf({ caller: `${text}${label}`, key: "k" }));
        await claimed(requestOf({ caller: label, key: text }));
      }
      await claimed(requestOf({ caller: `${label} a`, key: "b" }));
      await claimed(requestOf({ caller: label, key: "a b" }));
    });

    test("claim() refuses the key to another route or body, running and answered", async () => {
      const request = requestOf();
      const claimId = await claimed(request);
      for (const round of ["running", "answered"]) {
        expect(await stateOf({ ...request, route: "DELETE /api/projects" })).toBe("other_request");
        expect(await stateOf({ ...request, body: "bb" })).toBe("other_request");
        expect(await stateOf(request)).toBe(round);
        await world().idempotentAnswers.keep(claimId, "aa", ANSWER);
      }
    });

    test("keep() gives the answer to the same request from then on", async () => {
      const request = requestOf();
      await world().idempotentAnswers.keep(await claimed(request), "aa", ANSWER);
      for (const minute of [0.5, 5, 23 * 60]) {
        expect(await world().idempotentAnswers.claim(request, lease(minute))).toEqual({
          state: "answered",
          body: "aa",
          answer: ANSWER,
        });
      }
    });

    test("keep() keeps odd, empty and long bodies to the letter", async () => {
      for (const body of [...oddTexts, "", oddTexts.join("").repeat(200)]) {
        const request = requestOf();
        await world().idempotentAnswers.keep(await claimed(request), "aa", { status: 200, body });
        expect(await world().idempotentAnswers.claim(request, lease(0.5))).toMatchObject({ answer: { body } });
      }
    });

    test("claim() does not compare a body that still streams in; the answer names the one it was for", async () => {
      const request = requestOf({ body: null });
      const claimId = await claimed(request);
      expect(await stateOf(request)).toBe("running");
      expect(await stateOf({ ...request, body: "bb" })).toBe("running");
      await world().idempotentAnswers.keep(claimId, "cc", ANSWER);
      expect(await world().idempotentAnswers.claim(request, lease(0.5))).toEqual({
        state: "answered",
        body: "cc",
        answer: ANSWER,
      });
      expect(await stateOf({ ...request, body: "cc" })).toBe("answered");
      expect(await stateOf({ ...request, body: "bb" })).toBe("other_request");
    });

    test("release() frees the key for any request", async () => {
      const request = requestOf();
      await world().idempotentAnswers.release(await claimed(request));
      expect(await stateOf({ ...request, body: "bb" })).toBe("mine");
    });

    test("release() does not take an answer back", async () => {
      const request = requestOf();
      const claimId = await claimed(request);
      await world().idempotentAnswers.keep(claimId, "aa", ANSWER);
      await world().idempotentAnswers.release(claimId);
      expect(await stateOf(request)).toBe("answered");
    });

    test("claim() takes over from one that died, and only one does", async () => {
      const request = requestOf();
      await claimed(request);
      expect(await stateOf(request, 0.9)).toBe("running");
      const claims = await Promise.all([1, 2, 3, 4].map(() => world().idempotentAnswers.claim(request, lease(1.1))));
      expect(claims.map(({ state }) => state).toSorted()).toEqual(["mine", "running", "running", "running"]);
    });

    test("renew() holds a claim longer", async () => {
      const request = requestOf();
      const claimId = await claimed(request);
      await world().idempotentAnswers.renew(claimId, lease(0.9));
      expect(await stateOf(request, 1.5)).toBe("running");
      expect(await stateOf(request, 2)).toBe("mine");
    });

    test("keep(), renew() and release() by one who lost the claim do nothing to the new claim", async () => {
      const request = requestOf();
      const lost = await claimed(request, 0);
      const present = await claimed(request, 2);
      expect(present).not.toBe(lost);
      await world().idempotentAnswers.keep(lost, "aa", { status: 500, body: "late" });
      await world().idempotentAnswers.release(lost);
      await world().idempotentAnswers.renew(lost, lease(30));
      expect(await stateOf(request, 2.5)).toBe("running");
      await world().idempotentAnswers.keep(present, "aa", ANSWER);
      expect(await world().idempotentAnswers.claim(request, lease(2.6))).toMatchObject({ answer: ANSWER });
    });

    test("claim() forgets an answer after a day", async () => {
      const request = requestOf();
      await world().idempotentAnswers.keep(await claimed(request), "aa", ANSWER);
      expect(await stateOf(request, DAY - 10)).toBe("answered");
      expect(await stateOf({ ...request, body: "bb" }, DAY + 10)).toBe("mine");
    });

    test("sweep() forgets answers given before a time, and counts them", async () => {
      const longAgo = new Date("1985-01-01T00:00:00.000Z");
      const { idempotentAnswers } = world();
      await idempotentAnswers.sweep(longAgo);
      const at = (ms: number) => ({ at: new Date(longAgo.getTime() + ms), leaseMs: LEASE_MS });
      const [old, older, recent] = [requestOf(), requestOf(), requestOf()];
      for (const [request, ms] of [
        [old, -120_000],
        [older, -240_000],
        [recent, 1],
      ] as const) {
        const claim = await idempotentAnswers.claim(request, at(ms));
        if (claim.state === "mine") await idempotentAnswers.keep(claim.claimId, "aa", ANSWER);
      }
      expect(await idempotentAnswers.sweep(longAgo)).toBe(2);
      expect(await idempotentAnswers.sweep(longAgo)).toBe(0);
      expect((await idempotentAnswers.claim(old, at(2))).state).toBe("mine");
      expect((await idempotentAnswers.claim(recent, at(2))).state).toBe("answered");
    });
  });
}
