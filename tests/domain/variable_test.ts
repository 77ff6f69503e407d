import { describe, expect, test } from "bun:test";
import { checkVariableKeys } from "../../domain/projects/variable.ts";

function refusal(path: string) {
  return expect.objectContaining({ kind: "invalid", details: [expect.objectContaining({ path })] });
}

describe("checkVariableKeys()", () => {
  test("accepts keys that are valid in a shell", () => {
    expect(checkVariableKeys(["A", "_", "a1", "PATH", "Path", "x".repeat(255)], ["B", "__proto__"])).toBeUndefined();
    expect(checkVariableKeys([], [])).toBeUndefined();
  });

  test.each(["", "1A", "A-B", "A B", "A=B", "A\n", "Ä", "A.B", "$A", "A\0", "x".repeat(256)])(
    "refuses the key %j and says where it is",
    (key) => {
      expect(() => checkVariableKeys(["GOOD", key], [])).toThrow(refusal("upserts.1.key"));
      expect(() => checkVariableKeys(["GOOD"], ["FINE", key])).toThrow(refusal("deletes.1"));
    },
  );

  test("accepts keys of one service, with names that containers have", () => {
    const odd = [
      "db/my.key",
      "db/spring.datasource-url",
      "db/1",
      "db/a/b",
      "db/Ä",
      `${"s".repeat(63)}/${"n".repeat(255)}`,
    ];
    expect(checkVariableKeys(["db/POSTGRES_PASSWORD", ...odd], ["my.db-1_x/A", "0/A"])).toBeUndefined();
  });

  test.each([
    "/A",
    "db/",
    "/",
    "-db/A",
    "my db/A",
    "dä/A",
    `${"s".repeat(64)}/A`,
    "db/A B",
    "db/A=B",
    "db/A\0",
    "db/A\n",
    "db/A\u0085",
    "db/A\u007f",
    "db/A\u00a0",
    "db/\ud800",
    `db/${"n".repeat(256)}`,
  ])("refuses the key %j of a service and says where it is", (key) => {
    expect(() => checkVariableKeys(["GOOD", key], [])).toThrow(refusal("upserts.1.key"));
    expect(() => checkVariableKeys([], ["GOOD", key])).toThrow(refusal("deletes.1"));
  });

  test.each([
    ["A-B", 'for one service only, write "SERVICE/NAME"'],
    ["my db/A", 'name a service before the "/"'],
    ["db/A B", 'name the variable after the "/"'],
  ])("says what is wrong with %j", (key, message) => {
    expect(() => checkVariableKeys([key], [])).toThrow(message);
  });

  test("the key of a service differs from that of every service and of another one", () => {
    expect(checkVariableKeys(["A", "db/A"], ["web/A"])).toBeUndefined();
    expect(() => checkVariableKeys(["db/A"], ["db/A"])).toThrow(refusal("deletes.0"));
  });

  test("refuses a duplicate key", () => {
    expect(() => checkVariableKeys(["A", "B", "A"], [])).toThrow(refusal("upserts.2.key"));
    expect(() => checkVariableKeys([], ["A", "A"])).toThrow(refusal("deletes.1"));
    expect(() => checkVariableKeys(["A"], ["A"])).toThrow(refusal("deletes.0"));
  });
});
