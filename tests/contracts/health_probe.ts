import { describe, expect, test } from "bun:test";
import type { ProbedBehaviour } from "../../adapters/memory/health_probe.ts";
import type { HealthProbe } from "../../ports/health_probe.ts";

/** A probe, and programs for it to ask. */
export interface ProbeForContract {
  readonly probe: HealthProbe;
  /** Starts a program that behaves so; resolves to its port. */
  readonly program: (behaviour: ProbedBehaviour) => Promise<number>;
}

/** What every `HealthProbe` adapter promises. */
export function healthProbeContract(name: string, { probe, program }: ProbeForContract) {
  const ask = async (behaviour: ProbedBehaviour, asked: { readonly path?: string; readonly relayed?: boolean } = {}) =>
    probe.answers(
      { host: "127.0.0.1", port: await program(behaviour), path: asked.path ?? null, relayed: asked.relayed ?? false },
      { timeoutMs: 1_000 },
    );

  describe(`HealthProbe contract: ${name}`, () => {
    test.each([
      [200, true],
      [302, true],
      [404, false],
      [500, false],
      ["silent", false],
      ["hanging_up", false],
      ["absent", false],
    ] as const)("answers() with a path, of a program that is %p: %p, relayed or not", async (behaviour, answers) => {
      const asked = [false, true].map((relayed) => ask(behaviour, { path: "/health", relayed }));
      expect(await Promise.all(asked)).toEqual([answers, answers]);
    });

    test.each([200, 500, "silent", "talking", "hanging_up"] as const)(
      "answers() without a path counts any connection, to a program that is %p too",
      async (behaviour) => {
        expect(await ask(behaviour)).toBe(true);
      },
    );

    test.each([
      [200, true],
      [500, true],
      ["talking", true],
      ["silent", true],
      ["hanging_up", false],
    ] as const)(
      "answers() without a path, through a relay, of a program that is %p: %p",
      async (behaviour, answers) => {
        expect(await ask(behaviour, { relayed: true })).toBe(answers);
      },
    );

    test("answers() of a program that is not there says no", async () => {
      expect(await ask("absent")).toBe(false);
      expect(await ask("absent", { relayed: true })).toBe(false);
    });
  });
}
