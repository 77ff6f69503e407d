import { describe, expect, test } from "bun:test";
import { decideOnPush, readPush } from "../../domain/githost/push.ts";
import { pushPayload } from "../support/inputs/webhook_payloads.ts";

describe("readPush()", () => {
  test("reads what was pushed where", () => {
    const push = readPush(pushPayload("acme/shop", { ref: "refs/heads/next", at: 7 }));
    expect(push).toMatchObject({
      repository: { owner: "acme", repo: "shop" },
      defaultBranch: "main",
      ref: "refs/heads/next",
      deleted: false,
      pushedAt: 7,
    });
  });

  test("keeps the first line of the message", () => {
    const payload = { ...pushPayload("acme/shop"), head_commit: { message: `${"x".repeat(600)}\nmore` } };
    expect(readPush(payload)?.message).toBe("x".repeat(500));
  });

  test("takes a commit of zeros for a deletion", () => {
    expect(readPush(pushPayload("acme/shop", { after: "0".repeat(40) }))?.deleted).toBe(true);
  });

  test.each([
    ["no object", null],
    ["no repository", { ...pushPayload("acme/shop"), repository: undefined }],
    ["a name of three parts", pushPayload("acme/shop/x")],
    ["no commit id", { ...pushPayload("acme/shop"), after: "main" }],
    ["a ref that is no text", { ...pushPayload("acme/shop"), ref: ["refs/heads/main"] }],
  ])("refuses %s", (_, payload) => {
    expect(readPush(payload)).toBeUndefined();
  });
});

function pushed(ref: string) {
  return readPush(pushPayload("acme/shop", { ref }))!;
}

describe("decideOnPush()", () => {
  const ON = { autoDeploy: true };

  test.each([
    ["refs/heads/main", ON, "main"],
    ["refs/heads/feature/a/b", { ...ON, gitBranch: "feature/a/b" }, "feature/a/b"],
    ["refs/heads/größe-✓", { ...ON, gitBranch: "größe-✓" }, "größe-✓"],
  ])("deploys %s", (ref, settings, branch) => {
    expect(decideOnPush(pushed(ref), settings)).toEqual({ decision: "deploy", branch });
  });

  test.each([
    ["refs/heads/main", {}],
    ["refs/heads/main", { autoDeploy: false }],
    ["refs/heads/main", { ...ON, gitBranch: "next" }],
    ["refs/heads/Main", ON],
    ["refs/tags/main", ON],
    ["refs/pull/1/head", ON],
    ["main", ON],
    ["refs/heads/", { ...ON, gitBranch: "" }],
    ["refs/heads/--upload-pack=x", { ...ON, gitBranch: "--upload-pack=x" }],
    ["refs/heads/a..b", { ...ON, gitBranch: "a..b" }],
  ])("ignores %s with %p", (ref, settings) => {
    expect(decideOnPush(pushed(ref), settings).decision).toBe("ignored");
  });
});
