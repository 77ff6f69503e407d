import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import {
  answerPrompt,
  expireHeld,
  reopenDecision,
  requestApproval,
  requestCancel,
  requestDecision,
  requestStart,
} from "../../domain/deployments/requests.ts";
import { deploymentOf } from "../support/database/store_builders.ts";

const AT = new Date("2026-01-01T12:00:00.000Z");
const LATER = new Date("2026-01-02T12:00:00.000Z");
const OWNER = { organizationId: "org_1", projectId: "prj_1" };
const of = (overrides: Partial<Deployment>) => deploymentOf({ ...OWNER, ...overrides });
const PROMPT = {
  promptId: "p1",
  title: "Approve this build",
  message: "Build it?",
  actions: [
    { id: "approve", label: "Build it" },
    { id: "reject", label: "Cancel it" },
  ],
  expiresAt: LATER,
};

describe("requestStart()", () => {
  test("releases a held deployment, once", () => {
    const started = requestStart(of({ status: "queued", held: true }))!;
    expect(started.held).toBe(false);
    expect(requestStart(started)).toBeUndefined();
  });

  test("ignores a deployment that waits for an approval, and refuses one that has ended", () => {
    expect(requestStart(of({ status: "building", held: true }))).toBeUndefined();
    expect(() => requestStart(of({ status: "failed" }))).toThrow(
      'Cannot build this deployment: its status is "failed"',
    );
  });
});

describe("requestCancel()", () => {
  test("cancels a queued deployment, and leaves a running one to its worker", () => {
    const ended = requestCancel(of({ status: "queued", held: true }), AT);
    expect(ended).toMatchObject({ status: "cancelled", held: false, cancelRequested: true, finishedAt: AT });
    const running = requestCancel(of({ status: "building", held: true }), AT);
    expect(running).toMatchObject({ status: "building", held: false, cancelRequested: true });
  });

  test("refuses a deployment that has ended or awaits a decision", () => {
    for (const status of ["ready", "failed", "partial_failure"] as const)
      expect(() => requestCancel(of({ status }), AT)).toThrow(`its status is "${status}"`);
  });
});

describe("requestDecision() and reopenDecision()", () => {
  const undecided = of({ status: "partial_failure", decision: "pending", held: true });

  test("accept one decision at a time", () => {
    const requested = requestDecision(undecided, "keep");
    expect(requested).toMatchObject({ pendingDecision: "keep", held: false });
    expect(() => requestDecision(requested, "reject")).toThrow("it is being kept already");
    const error = { code: "keep_failed", message: "Cannot keep", step: null };
    const reopened = reopenDecision(requested, error);
    expect(reopened).toMatchObject({ pendingDecision: null, held: true, error });
    expect(requestDecision(reopened, "reject").pendingDecision).toBe("reject");
  });

  test("refuse a deployment that awaits no decision", () => {
    expect(() => requestDecision(of({ status: "ready", decision: "kept" }), "keep")).toThrow(
      "it does not wait for a decision",
    );
  });
});

describe("requestApproval() and answerPrompt()", () => {
  const waiting = requestApproval(of({ status: "building" }), PROMPT);

  test("hold a build until it is answered", () => {
    expect(waiting).toMatchObject({ held: true, prompt: { ...PROMPT, answer: null } });
    const answered = answerPrompt(waiting, { promptId: "p1", action: "approve", at: AT });
    expect(answered).toMatchObject({ held: false, prompt: { answer: "approve" } });
  });

  test("refuse another prompt, a second answer, a late one and an unknown action", () => {
    const answer = { promptId: "p1", action: "approve", at: AT };
    const answered = answerPrompt(waiting, answer);
    for (const [deployment, given] of [
      [waiting, { ...answer, promptId: "p2" }],
      [answered, answer],
      [waiting, { ...answer, at: LATER }],
    ] as const)
      expect(() => answerPrompt(deployment, given)).toThrow("is not waiting for this answer");
    expect(() => answerPrompt(waiting, { ...answer, action: "aprove" })).toThrow('did you mean "approve"?');
  });
});

describe("expireHeld()", () => {
  test("cancels a deployment that was never started, and releases one that waits for an approval", () => {
    expect(expireHeld(of({ status: "queued", held: true }), AT)).toMatchObject({ status: "cancelled", held: false });
    expect(expireHeld(of({ status: "building", held: true }), AT)).toMatchObject({ status: "building", held: false });
    expect(expireHeld(of({ status: "queued", held: false }), AT)).toBeUndefined();
  });
});
