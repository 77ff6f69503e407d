import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { cycleText, dependencyCycle } from "../../domain/services/dependency_cycle.ts";

function service(name: string, ...dependsOn: string[]) {
  return { name, dependsOn: dependsOn.map((other) => ({ service: other })) };
}

describe("dependencyCycle()", () => {
  test.each([
    [[]],
    [[service("b"), service("a")]],
    [[service("web", "api", "db"), service("api", "db"), service("db")]],
    [[service("web", "missing")]],
  ])("finds none in %j", (services) => {
    expect(dependencyCycle(services)).toBeUndefined();
  });

  test.each([
    [[service("a", "a")], '"a" waits for itself'],
    [[service("x", "a"), service("a", "b"), service("b", "a")], '"a" waits for "b" and "b" waits for "a"'],
  ])("finds the one in %j, and cycleText() names it", (services, text) => {
    expect(cycleText(dependencyCycle(services)!)).toBe(text);
  });

  test("finds one exactly when services cannot be sorted", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const links = fc.uniqueArray(fc.tuple(fc.nat(5), fc.nat(5)), { selector: String, maxLength: 15 });
    fc.assert(
      fc.property(links, (pairs) => {
        const of = (name: string) => pairs.filter(([from]) => names[from] === name).map(([, to]) => names[to]!);
        const left = new Map(names.map((name) => [name, of(name)]));
        for (const _ of names)
          for (const [name, others] of left) if (others.every((other) => !left.has(other))) left.delete(name);
        const cycle = dependencyCycle(names.map((name) => service(name, ...of(name))));
        expect(cycle !== undefined).toBe(left.size > 0);
        cycle?.forEach((name, at) => expect(of(name)).toContain(cycle[(at + 1) % cycle.length]!));
      }),
    );
  });

  test("is fast for services with very many dependency paths", () => {
    const all = Array.from({ length: 100 }, (_, at) =>
      service(`s${at}`, ...Array.from({ length: at }, (__, to) => `s${to}`)),
    );
    expect(dependencyCycle(all.toReversed())).toBeUndefined();
  });
});
