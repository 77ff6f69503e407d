import { describe, expect, test } from "bun:test";
import type { IdempotentRequest } from "../../ports/system/idempotent_answers.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { uniqueLabel } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const MINUTE = 60_000;
/** Two minutes: long enough for every test on a busy machine. */
const LEASE_MS = 2 * MINUTE;
const ANSWER = { status: 201, body: '{"data":{"name":"O\'Brien 🚀 $1"}}' };
const DAY = 24 * 60 * MINUTE;

function requestOf(overrides: Partial<IdempotentRequest> = {}): IdempotentRequest {
  return { caller: uniqueLabel(), key: uniqueLabel(), route: "POST /api/projects?x=1", body: "aa", ...overrides };
}

/** Contract tests for `IdempotentAnswers` adapters. */
export function idempotentAnswersContract(name: string, open: () => Promise<WorldOf<"elapse" | "idempotentAnswers">>) {
  describe(`IdempotentAnswers contract: ${name}`, () => {
    const world = sharedWorld(open);

    /** Claims a request; throws unless the claim succeeds. Returns the claim's id. */
    async function claimed(request: IdempotentRequest): Promise<string> {
      const claim = await world().idempotentAnswers.claim(request, LEASE_MS);
      if (claim.state !== "mine") throw new Error(`The claim is ${claim.state}`);
      return claim.claimId;
    }

    async function stateOf(request: IdempotentRequest): Promise<string> {
      return (await world().idempotentAnswers.claim(request, LEASE_MS)).state;
    }

    test("claim() succeeds for the first request; a repeated one finds it running", async () => {
      const request = requestOf();
      await claimed(request);
      expect(await stateOf(request)).toBe("running");
    });

    test("concurrent claim() calls for one key succeed once", async () => {
      const request = requestOf();
      const claims = await Promise.all(
        Array.from({ length: 8 }, () => world().idempotentAnswers.claim(request, LEASE_MS)),
      );
      const states = claims.map(({ state }) => state).toSorted();
      expect(states).toEqual(["mine", ...Array<"running">(7).fill("running")]);
    });

    test("claim() keeps callers and keys with any characters apart", async () => {
      const label = uniqueLabel();
      for (const text of oddTexts) {
        await claimed(requestOf({ caller: `${text}${label}`, key: "k" }));
        await claimed(requestOf({ caller: label, key: text }));
      }
      await claimed(requestOf({ caller: `${label} a`, key: "b" }));
      await claimed(requestOf({ caller: label, key: "a b" }));
    });

    test("claim() refuses the key for another route or body, running and answered", async () => {
      const request = requestOf();
      const claimId = await claimed(request);
      for (const round of ["running", "answered"]) {
        expect(await stateOf({ ...request, route: "DELETE /api/projects" })).toBe("other_request");
        expect(await stateOf({ ...request, body: "bb" })).toBe("other_request");
        expect(await stateOf(request)).toBe(round);
        await world().idempotentAnswers.keep(claimId, "aa", ANSWER);
      }
    });

    test("keep() makes the same request return the stored answer", async () => {
      const request = requestOf();
      await world().idempotentAnswers.keep(await claimed(request), "aa", ANSWER);
      for (const laterMs of [0, 5 * MINUTE, DAY - 60 * MINUTE]) {
        await world().elapse(laterMs);
        expect(await world().idempotentAnswers.claim(request, LEASE_MS)).toEqual({
          state: "answered",
          body: "aa",
          answer: ANSWER,
        });
      }
    });

    test("keep() stores odd, empty and long bodies unchanged", async () => {
      for (const body of [...oddTexts, "", oddTexts.join("").repeat(200)]) {
        const request = requestOf();
        await world().idempotentAnswers.keep(await claimed(request), "aa", { status: 200, body });
        expect(await world().idempotentAnswers.claim(request, LEASE_MS)).toMatchObject({ answer: { body } });
      }
    });

    test("claim() does not compare a body that is still streaming; the answer names the body it was for", async () => {
      const request = requestOf({ body: null });
      const claimId = await claimed(request);
      expect(await stateOf(request)).toBe("running");
      expect(await stateOf({ ...request, body: "bb" })).toBe("running");
      await world().idempotentAnswers.keep(claimId, "cc", ANSWER);
      expect(await world().idempotentAnswers.claim(request, LEASE_MS)).toEqual({
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

    test("release() does not remove an answer", async () => {
      const request = requestOf();
      const claimId = await claimed(request);
      await world().idempotentAnswers.keep(claimId, "aa", ANSWER);
      await world().idempotentAnswers.release(claimId);
      expect(await stateOf(request)).toBe("answered");
    });

    test("claim() takes over a claim whose lease expired, only once", async () => {
      const request = requestOf();
      await claimed(request);
      await world().elapse(LEASE_MS - MINUTE);
      expect(await stateOf(request)).toBe("running");
      await world().elapse(MINUTE);
      const claims = await Promise.all([1, 2, 3, 4].map(() => world().idempotentAnswers.claim(request, LEASE_MS)));
      expect(claims.map(({ state }) => state).toSorted()).toEqual(["mine", "running", "running", "running"]);
    });

    test("renew() extends a claim", async () => {
      const request = requestOf();
      const claimId = await claimed(request);
      await world().elapse(LEASE_MS - MINUTE);
      await world().idempotentAnswers.renew(claimId, LEASE_MS);
      await world().elapse(LEASE_MS - MINUTE);
      expect(await stateOf(request)).toBe("running");
      await world().elapse(MINUTE);
      expect(await stateOf(request)).toBe("mine");
    });

    test("keep(), renew() and release() with a lost claim do not affect the new claim", async () => {
      const request = requestOf();
      const lost = await claimed(request);
      await world().elapse(LEASE_MS);
      const present = await claimed(request);
      expect(present).not.toBe(lost);
      await world().idempotentAnswers.keep(lost, "aa", { status: 500, body: "late" });
      await world().idempotentAnswers.release(lost);
      await world().idempotentAnswers.renew(lost, DAY);
      expect(await stateOf(request)).toBe("running");
      await world().idempotentAnswers.keep(present, "aa", ANSWER);
      expect(await world().idempotentAnswers.claim(request, LEASE_MS)).toMatchObject({ answer: ANSWER });
    });

    test("claim() ignores an answer that is older than a day", async () => {
      const request = requestOf();
      await world().idempotentAnswers.keep(await claimed(request), "aa", ANSWER);
      await world().elapse(DAY - 10 * MINUTE);
      expect(await stateOf(request)).toBe("answered");
      await world().elapse(20 * MINUTE);
      expect(await stateOf({ ...request, body: "bb" })).toBe("mine");
    });

    test("sweep() removes answers older than the given age, and counts them", async () => {
      const { idempotentAnswers, elapse } = world();
      await elapse(3 * DAY);
      await idempotentAnswers.sweep(DAY);
      const [old, older, recent, running] = [requestOf(), requestOf(), requestOf(), requestOf()];
      for (const request of [older, old]) {
        await idempotentAnswers.keep(await claimed(request), "aa", ANSWER);
        await elapse(10 * MINUTE);
      }
      await elapse(DAY);
      await idempotentAnswers.keep(await claimed(recent), "aa", ANSWER);
      await claimed(running);
      expect(await idempotentAnswers.sweep(DAY)).toBe(2);
      expect(await idempotentAnswers.sweep(DAY)).toBe(0);
      expect(await stateOf(old)).toBe("mine");
      expect(await stateOf(recent)).toBe("answered");
      expect(await stateOf(running)).toBe("running");
    });
  });
}
