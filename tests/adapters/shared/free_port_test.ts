import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { freePort, type PortRange, PORT_RANGES } from "../../../adapters/shared/free_port.ts";
import { testPort } from "../../support/servers/test_port.ts";

/** Listens on a loopback port until disposed. */
function listening(port: number): Disposable {
  const listener = Bun.listen({ hostname: "127.0.0.1", port, exclusive: true, socket: { data() {} } });
  return { [Symbol.dispose]: () => listener.stop(true) };
}

/** Consecutive free ports, reserved against other tests. */
function quietRange(count: number): PortRange & Disposable {
  using tried = new DisposableStack();
  for (;;) {
    const { port } = tried.use(testPort());
    try {
      using _ = new DisposableStack();
      for (let offset = 0; offset < count; offset++) _.use(listening(port + offset));
      const held = tried.move();
      return { first: port, last: port + count - 1, [Symbol.dispose]: () => held.dispose() };
    } catch {
      // One of them is in use: tries others.
    }
  }
}

describe("PORT_RANGES", () => {
  test("do not overlap, and are within the ports that programs may use", () => {
    const ranges = Object.values(PORT_RANGES).toSorted((a, b) => a.first - b.first);
    for (const [index, { first, last }] of ranges.entries()) {
      expect(first).toBeGreaterThan(ranges[index - 1]?.last ?? 1_023);
      expect(last).toBeGreaterThan(first);
      // The default start of Linux's ephemeral port range.
      expect(last).toBeLessThan(32_768);
    }
  });
});

describe("freePort()", () => {
  test("returns every port of the range, and no other", () => {
    using range = quietRange(3);
    const { first, last } = range;
    const seen = new Set(Array.from({ length: 200 }, () => freePort({ first, last })));
    // The chance that one is missing is about 1 in 10^35.
    expect([...seen].toSorted()).toEqual([first, first + 1, last]);
  });

  test("skips ports with a listener, on loopback or all interfaces, and taken ones", async () => {
    using range = quietRange(4);
    const { first, last } = range;
    using _ = listening(first);
    const everywhere = createServer();
    await new Promise<void>((resolve) => everywhere.listen(first + 1, "0.0.0.0", resolve));
    for (let count = 0; count < 20; count++) {
      expect(freePort({ first, last }, { taken: new Set([first + 2]) })).toBe(last);
    }
    expect(freePort({ first, last }, { taken: new Set([first + 2, last]) })).toBeUndefined();
    await new Promise((resolve) => everywhere.close(resolve));
  });

  test("returns a port of the ephemeral range only when no other is left", () => {
    using range = quietRange(3);
    const { first, last } = range;
    const handedOut = { first: first + 1, last: 65_535 };
    for (let count = 0; count < 20; count++) expect(freePort({ first, last }, { handedOut })).toBe(first);
    using _ = listening(first);
    expect([first + 1, last]).toContain(freePort({ first, last }, { handedOut })!);
    expect(freePort({ first, last }, { handedOut: { first: 1, last: 65_535 } })).toBeDefined();
  });
});

test("testPort() returns a different port for each holder", () => {
  using held = new DisposableStack();
  const ports = Array.from({ length: 50 }, () => held.use(testPort()).port);
  expect(new Set(ports).size).toBe(50);
});
