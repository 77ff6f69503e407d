import { describe, expect, test } from "bun:test";
import { Failure, invalid } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import { Secret } from "../../domain/secret.ts";

describe("loggedError()", () => {
  test("returns the message of a failure, its code and its cause", () => {
    const refused = Object.assign(new Error("connect refused"), { code: "ECONNREFUSED" });
    const away = new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers", { cause: refused });
    expect(loggedError(away)).toEqual({
      error: "Cannot use Docker: nothing answers",
      code: "engine_away",
      cause: "ECONNREFUSED: connect refused",
    });
    expect(loggedError(invalid("wrong", "Cannot do this"))).toEqual({ error: "Cannot do this", code: "wrong" });
  });

  test("returns the stack of any other error", () => {
    const bug = new TypeError("x is not a function", { cause: new Error("because") });
    expect(loggedError(bug)).toEqual({
      error: "x is not a function",
      cause: "Error: because",
      stack: expect.stringContaining("logged_error_test.ts"),
    });
    expect(loggedError(new RangeError()).error).toBe("RangeError");
  });

  test.each([
    ["a text", "a text"],
    [undefined, "undefined"],
    [null, "null"],
    [7n, "7"],
    [{ reason: "odd" }, '{"reason":"odd"}'],
    [new Secret("canary"), '"[secret]"'],
    [{ toJSON: (): undefined => undefined }, "[object Object]"],
  ])("accepts %p, which is not an error", (thrown, expected) => {
    expect(loggedError(thrown)).toEqual({ error: expected });
  });

  test("accepts a circular object", () => {
    const round: { self?: unknown } = {};
    round.self = round;
    expect(loggedError(round)).toEqual({ error: "[object Object]" });
  });
});
