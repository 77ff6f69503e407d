import { expect } from "bun:test";
import type { TestProject } from "../apps/deploying.ts";
import { Visitor } from "./visitor.ts";

const RESTARTS = 10;

/** Restarts a server again and again, by turns in order and killed, and expects that no visitor of these projects notices. */
export async function expectServedThroughRestarts(projects: readonly TestProject[]): Promise<void> {
  const { slipway } = projects[0]!;
  const visitors = projects.map(({ hostname }) => new Visitor(slipway, hostname));
  for (let restart = 0; restart < RESTARTS; restart++) {
    if (restart % 2 === 0) expect((await slipway.stop()).code).toBe(0);
    else await slipway.kill();
    const before = visitors.map(({ visits }) => visits);
    // Some come while there is no server.
    while (visitors.some(({ visits }, index) => visits < before[index]! + 3)) await Bun.sleep(10);
    await slipway.start();
  }
  for (const visitor of visitors) {
    await visitor.stop();
    expect(visitor.failures).toEqual([]);
  }
}
