import { expect } from "bun:test";
import type { TestProject } from "../apps/deploying.ts";
import { Visitor } from "./visitor.ts";

const RESTARTS = 10;

/** Restarts a server repeatedly, alternately by shutdown and by kill. Expects no failed request to these projects. */
export async function expectServedThroughRestarts(projects: readonly TestProject[]): Promise<void> {
  const { slipway } = projects[0]!;
  const visitors = projects.map(({ hostname }) => new Visitor(slipway, hostname));
  for (let restart = 0; restart < RESTARTS; restart++) {
    if (restart % 2 === 0) expect((await slipway.stop()).code).toBe(0);
    else await slipway.kill();
    const before = visitors.map(({ visits }) => visits);
    // Some requests must arrive while the server is down.
    while (visitors.some(({ visits }, index) => visits < before[index]! + 3)) await Bun.sleep(10);
    await slipway.start();
  }
  for (const visitor of visitors) {
    await visitor.stop();
    expect(visitor.failures).toEqual([]);
  }
}
