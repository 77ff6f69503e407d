import { describe, expect, test } from "bun:test";
import { eventually } from "./eventually.ts";
import { randomInput } from "./inputs/random_input.ts";
import { pullRequestPayload } from "./inputs/webhook_payloads.ts";

describe("eventually()", () => {
  test("retries after errors and results that do not satisfy", async () => {
    let calls = 0;
    const ask = async () => {
      if (++calls < 3) throw new Error("not yet");
      return calls;
    };
    expect(await eventually(ask, (answer) => answer === 5)).toBe(5);
  });

  test("rejects with the last result when none satisfies", async () => {
    const waiting = eventually(
      async () => ({ status: "building" }),
      () => false,
      0,
    );
    await expect(waiting).rejects.toThrow('status: "building"');
  });

  test("rejects with the last error, which is its cause", async () => {
    const cause = new Error("not there");
    const waiting = eventually(
      () => Promise.reject(cause),
      () => true,
      0,
    );
    const error = await waiting.catch((reason: unknown) => reason as Error);
    expect([error.message, error.cause]).toEqual(["Still failing after 0 ms: not there", cause]);
  });
});

describe("randomInput()", () => {
  test("is the same for the same label, and different for another", () => {
    const [one, again, other] = ["a", "a", "b"].map((label) => randomInput(label).bytes(32));
    expect(again).toEqual(one!);
    expect(other).not.toEqual(one!);
  });

  test("returns bytes of any length, and numbers within their bounds", () => {
    const input = randomInput("bounds");
    for (const length of [0, 1, 5, 1_000]) expect(input.bytes(length)).toHaveLength(length);
    for (let count = 0; count < 1_000; count++) {
      expect(input.below(3)).toBeOneOf([0, 1, 2]);
      expect(input.fraction()).toBeWithin(0, 1);
    }
    const bytes = new Uint8Array(100);
    input.fill(bytes.subarray(0, 50));
    expect(bytes.subarray(50)).toEqual(new Uint8Array(50));
    expect(bytes.subarray(0, 50)).not.toEqual(new Uint8Array(50));
  });
});

describe("pullRequestPayload()", () => {
  const head = { number: 7, headSha: "ab".repeat(20), headRef: "feature" };

  test("is about a branch of the repository, and open unless it says otherwise", () => {
    const payload = pullRequestPayload("acme/shop", {
      ...head,
      action: "synchronize",
      installationId: 5,
      title: "Better",
    });
    expect(payload).toMatchObject({
      action: "synchronize",
      number: 7,
      after: head.headSha,
      installation: { id: 5 },
      repository: { full_name: "acme/shop" },
      pull_request: {
        number: 7,
        state: "open",
        title: "Better",
        head: { ref: "feature", sha: head.headSha, label: "acme:feature", repo: { full_name: "acme/shop" } },
        base: { ref: "main", repo: { full_name: "acme/shop" } },
      },
    });
  });

  test("can be about a fork, a deleted one, and a closed pull request", () => {
    const updatedAt = new Date("2026-01-02T03:04:05Z");
    const payload = pullRequestPayload("acme/shop", {
      ...head,
      action: "opened",
      headRepository: "eve/shop",
      updatedAt,
    });
    expect(payload["pull_request"]).toMatchObject({
      updated_at: "2026-01-02T03:04:05Z",
      head: { repo: { full_name: "eve/shop", owner: { login: "eve" } } },
      base: { repo: { full_name: "acme/shop", owner: { login: "acme" } } },
    });
    expect(payload).not.toHaveProperty("installation");
    const closed = pullRequestPayload("acme/shop", { ...head, action: "closed", headRepository: null });
    expect(closed["pull_request"]).toMatchObject({ state: "closed", head: { repo: null } });
  });
});
