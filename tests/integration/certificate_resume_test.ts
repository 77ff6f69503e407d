import { describe, expect, test } from "bun:test";
import { CertificateScene } from "../support/apps/certificate_scene.ts";
import { mortal } from "../support/faults/mortal.ts";
import { eventually } from "../support/eventually.ts";

const LEASE_MS = 20_000;
/** More calls than an order makes. */
const MANY = 30;

/** Kills the process at this call number and lets another one continue. Returns the call; undefined if it made fewer. */
async function killedAt(call: number, when: "before" | "after"): Promise<string | undefined> {
  await using scene = new CertificateScene();
  const domain = await scene.domain();
  const process = mortal(scene.world, { call, when });
  const killed = scene.start({ world: process.world });
  const state = await eventually(
    async () => (process.isDead() ? "dead" : (await scene.world.certificates.find(domain.hostname)) && "issued"),
    (found) => found !== undefined,
  );
  if (state === "issued" && !process.isDead()) return undefined;
  await Bun.sleep(2);
  killed.bury();
  const died = `${call}: ${when} ${process.calls.at(-1)}`;
  scene.world.clock.advance(LEASE_MS + 1);
  const { edge } = scene.start();
  const { chain } = await scene.certified(domain);
  await eventually(
    async () => edge.certificateOf(domain.hostname)?.chain,
    (presented) => presented === chain,
  );
  expect([died, scene.authority.issued.length]).toEqual([died, 1]);
  const made = when === "after" ? process.calls : process.calls.slice(0, -1);
  expect([died, scene.authority.orders.length]).toEqual([died, isForgotten(made) ? 2 : 1]);
  expect([died, await scene.world.certificateOrders.proofs()]).toEqual([died, []]);
  return died;
}

/**
 * Whether the authority has accepted an order that nobody has stored yet: another one is made then. Let's Encrypt returns
 * the pending one instead; no authority issues anything for the forgotten one.
 */
function isForgotten(made: readonly string[]): boolean {
  const ordered = made.indexOf("certificateAuthority.order");
  return ordered >= 0 && !made.includes("certificateOrders.save", ordered);
}

describe.each(["before", "after"] as const)("killed right %s any call", (when) => {
  test("in the middle of an order, another process completes it with one certificate", async () => {
    const died: string[] = [];
    for (let call = 1; call < MANY; call++) {
      const at = await killedAt(call, when);
      if (at === undefined) break;
      died.push(at);
    }
    expect(new Set(died.map((at) => at.split(" ").at(-1)))).toEqual(
      new Set([
        "certificateOrders.take",
        "certificateOrders.save",
        "certificateAuthority.order",
        "certificateAuthority.issue",
        "certificateOrders.complete",
      ]),
    );
    expect(died.length).toBeGreaterThanOrEqual(6);
  });
});
