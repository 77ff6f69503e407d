import type { StepName } from "../../domain/deployment/deployment.ts";
import type { TcpGate } from "./tcp_gate.ts";

/** How long after its beginning a step is struck: those that take a while in the middle, the others at once. */
export const STRIKE_AFTER_MS: Readonly<Record<StepName, number>> = {
  fetch: 300,
  detect: 0,
  build: 700,
  start: 15,
  health: 400,
  switch: 1_500,
  retire: 0,
  clean: 0,
};

/** Resolves when a server stores that a deployment begins a step. */
export function stepBegins(gate: TcpGate, id: string, step: StepName): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = gate.watch;
  const record = `"name":"${step}","status":"running"`;
  gate.watch = (bytes) => {
    before?.(bytes);
    if (bytes.includes(record) && bytes.includes(id)) resolve();
  };
  return promise;
}

/** Gives a function that does work when its turn has come: so many at once. */
export function inTurns(atOnce: number): (work: () => Promise<void>) => () => Promise<void> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return (work) =>
    async function () {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    };
}
