import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { startOrder } from "../../domain/services/start_order.ts";

function service(name: string, ...dependsOn: string[]) {
  return { name, dependsOn: dependsOn.map((other) => ({ service: other })) };
}

function order(...services: ReturnType<typeof service>[]): string[] {
  return startOrder(services).map(({ name }) => name);
}

describe("startOrder()", () => {
  test("puts what others wait for first, and leaves the rest as it is", () => {
    expect(order()).toEqual([]);
    expect(order(service("b"), service("a"))).toEqual(["b", "a"]);
    expect(
      order(service("web", "api", "db"), service("api", "db", "migrate"), service("migrate", "db"), service("db")),
    ).toEqual(["db", "migrate", "api", "web"]);
  });

  test("passes over what is not there", () => {
    expect(order(service("web", "gone"))).toEqual(["web"]);
  });

  test.each([
    [[service("a", "a")], '"a" waits for itself'],
    [[service("x", "a"), service("a", "b"), service("b", "a")], '"a" waits for "b" and "b" waits for "a"'],
  ])("names the circle in %j", (services, text) => {
    expect(() => startOrder(services)).toThrow(
      expect.objectContaining({ code: "dependency_circle", message: expect.stringContaining(text) }),
    );
  });

  test("finds an order for any services without a circle", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const links = fc.uniqueArray(fc.tuple(fc.nat(5), fc.nat(5)), { selector: String, maxLength: 15 });
    fc.assert(
      fc.property(links, fc.shuffledSubarray(names, { minLength: 6 }), (pairs, shuffled) => {
        const later = pairs.filter(([from, to]) => from > to);
        const all = shuffled.map((name) =>
          service(name, ...later.filter(([from]) => names[from] === name).map(([, to]) => names[to]!)),
        );
        const ordered = order(...all);
        expect(ordered.toSorted()).toEqual(names);
        for (const [from, to] of later) expect(ordered.indexOf(names[to]!)).toBeLessThan(ordered.indexOf(names[from]!));
      }),
    );
  });

  test("is done at once with services that wait for each other on very many ways", () => {
    const all = Array.from({ length: 100 }, (_, at) =>
      service(`s${at}`, ...Array.from({ length: at }, (__, to) => `s${to}`)),
    );
    expect(order(...all.toReversed())).toEqual(all.map(({ name }) => name));
  });
});
