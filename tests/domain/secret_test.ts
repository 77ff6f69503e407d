import { describe, expect, test } from "bun:test";
import { format, inspect } from "node:util";
import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";

// Concatenated, because Bun prints source lines of this file next to an error.
const VALUE = ["sword", "fish"].join("");
const secret = new Secret(VALUE);

const failed = new Failure("unavailable", "x", "Cannot do this", { cause: { password: secret } });
const outer = new Error("outer", { cause: new Error("inner", { cause: secret }) });
const holding = Object.assign(new Error("holding"), { secret });

test("reveal() returns the value", () => {
  expect(secret.reveal()).toBe(VALUE);
  expect(new Secret("").reveal()).toBe("");
});

describe("a secret stays out of", () => {
  const views: readonly (readonly [string, () => unknown])[] = [
    ["a template", () => `${secret}`],
    ["a concatenation", () => `password: ${String(secret)}`.concat(secret as unknown as string)],
    ["a join", () => [secret, secret].join()],
    ["toLocaleString()", () => secret.toLocaleString()],
    ["JSON", () => JSON.stringify({ secret, list: [secret], map: [...new Map([["a", secret]])] })],
    ["its keys", () => JSON.stringify([Reflect.ownKeys(secret), Object.entries(secret), { ...secret }])],
    ["a structured clone", () => inspect(structuredClone({ ...secret }), { showHidden: true })],
    ["a query", () => new URLSearchParams({ password: secret as unknown as string }).toString()],
    ["Bun.inspect()", () => Bun.inspect({ secret, list: [secret], map: new Map([["a", secret]]) }, { depth: 20 })],
    ["a table", () => Bun.inspect.table([{ secret }])],
    ["node's inspect()", () => inspect({ secret }, { showHidden: true, depth: null, getters: true })],
    ["node's inspect() without custom views", () => inspect(secret, { showHidden: true, customInspect: false })],
    ["node's format()", () => format("%s %o %O %j %d %i", secret, secret, secret, secret, secret, secret)],
    ["a failure's cause", () => Bun.inspect(failed, { depth: 20 }) + inspect(failed, { depth: null })],
    ["a cause of a cause", () => Bun.inspect(outer, { depth: 20 }) + inspect(outer, { depth: null })],
    ["an error that holds it", () => Bun.inspect(holding, { depth: 20 }) + inspect(holding, { depth: null })],
    ["an error of several", () => Bun.inspect(new AggregateError([secret, outer], "several"), { depth: 20 })],
    ["an error thrown about it", () => thrown(() => (secret as unknown as () => void)())],
    ["a failed expectation", () => thrown(() => expect({ secret }).toEqual({ secret: "other" } as never))],
  ];

  test.each(views)("%s", (_, view) => {
    const shown = view();
    expect(typeof shown).toBe("string");
    // Not `toContain`, whose failure message would print the secret.
    expect(String(shown).includes(VALUE)).toBe(false);
    expect(String(shown).includes(btoa(VALUE))).toBe(false);
  });

  test("what the console writes", async () => {
    const program = `
      import { Secret } from ${JSON.stringify(new URL("../../domain/secret.ts", import.meta.url).pathname)};
      const secret = new Secret(["sword", "fish"].join(""));
      for (const write of [console.log, console.info, console.warn, console.error, console.debug, console.dir]) {
        write(secret);
        write({ secret, nested: { deep: { deeper: [secret] } } });
        write(new Error("x", { cause: secret }));
      }
      console.log("%s %o %O %j", secret, secret, secret, secret);
      console.table([{ secret }]);
      console.trace(secret);
      console.assert(false, secret);
      throw Object.assign(new Error("uncaught", { cause: secret }), { secret });
    `;
    const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
    const written = (await Promise.all([child.stdout.text(), child.stderr.text()])).join("");
    await child.exited;
    expect(written).toContain("[secret]");
    expect(written).toContain("uncaught");
    expect(written.includes(VALUE)).toBe(false);
  });
});

function thrown(act: () => void): string {
  try {
    act();
  } catch (error) {
    return `${String(error)} ${Bun.inspect(error, { depth: 20 })} ${inspect(error, { depth: null })}`;
  }
  throw new Error("Nothing was thrown");
}
