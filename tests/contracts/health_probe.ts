import { describe, expect, test } from "bun:test";
import type { ProbedBehaviour } from "../../adapters/memory/health_probe.ts";
import type { HealthProbe } from "../../ports/deployments/health_probe.ts";

/** A probe, and programs for it to check. */
export interface ProbeForContract {
  readonly probe: HealthProbe;
  /** Starts a program with this behaviour; resolves to its port. */
  readonly program: (behaviour: ProbedBehaviour) => Promise<number>;
}

/** Contract tests for `HealthProbe` adapters. */
export function healthProbeContract(name: string, { probe, program }: ProbeForContract) {
  const ask = async (
    behaviour: ProbedBehaviour,
    options: { readonly path?: string; readonly relayed?: boolean } = {},
  ) =>
    probe.check(
      {
        host: "127.0.0.1",
        port: await program(behaviour),
        path: options.path ?? null,
        relayed: options.relayed ?? false,
      },
      { timeoutMs: 1_000 },
    );

  describe(`HealthProbe contract: ${name}`, () => {
    test.each([
      [200, { isHealthy: true, status: 200 }],
      [302, { isHealthy: true, status: 302 }],
      [404, { isHealthy: false, status: 404 }],
      [500, { isHealthy: false, status: 500 }],
      ["silent", { isHealthy: false, status: null }],
      ["hanging_up", { isHealthy: false, status: null }],
      ["absent", { isHealthy: false, status: null }],
    ] as const)(
      "check() with a path reports the status of a program that is %p, relayed or not",
      async (behaviour, result) => {
        const checks = [false, true].map((relayed) => ask(behaviour, { path: "/health", relayed }));
        expect(await Promise.all(checks)).toEqual([result, result]);
      },
    );

    test.each([200, 500, "silent", "talking", "hanging_up"] as const)(
      "check() without a path accepts any connection, also to a program that is %p",
      async (behaviour) => {
        expect(await ask(behaviour)).toEqual({ isHealthy: true, status: null });
      },
    );

    test.each([
      [200, true],
      [500, true],
      ["talking", true],
      ["silent", true],
      ["hanging_up", false],
    ] as const)(
      "check() without a path, through a relay, of a program that is %p is %p",
      async (behaviour, isHealthy) => {
        expect(await ask(behaviour, { relayed: true })).toEqual({ isHealthy, status: null });
      },
    );

    test("check() of an absent program reports it as unhealthy", async () => {
      expect(await ask("absent")).toEqual({ isHealthy: false, status: null });
      expect(await ask("absent", { relayed: true })).toEqual({ isHealthy: false, status: null });
    });
  });
}
