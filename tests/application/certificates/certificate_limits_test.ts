import { describe, expect, test } from "bun:test";
import type { DomainName } from "../../../domain/domains/domain_name.ts";
import { CertificateScene } from "../../support/apps/certificate_scene.ts";
import { eventually } from "../../support/eventually.ts";

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const hostname = "www.example.org";

function remove({ world }: CertificateScene, { organizationId, id }: DomainName): Promise<boolean> {
  return world.domains.remove(organizationId, id);
}

/** Claims the name, has work done, and removes it, five times. */
async function claimedFiveTimes(scene: CertificateScene, work: (domain: DomainName) => Promise<unknown>) {
  for (let time = 0; time < 5; time++) {
    const domain = await scene.domain({ hostname });
    await work(domain);
    await remove(scene, domain);
  }
}

/** Waits until an order is held up, and returns its line of the log and the milliseconds until it is due. */
async function heldUp({ world }: CertificateScene) {
  const text = await eventually(
    async () => world.log.lines.map((line) => line.text).find((line) => line.includes("is not ordered before")),
    (line) => line !== undefined,
  );
  const dueMs = await eventually(
    () => world.certificateOrders.nextDueMs(),
    (ms) => ms !== null && ms > 60_000,
  );
  return { line: JSON.parse(text!), dueMs: dueMs! };
}

describe("the limits of a host name", () => {
  test("a domain that is removed and claimed again gets five certificates a week, and the next one after it", async () => {
    await using scene = new CertificateScene();
    const process = scene.start();
    await claimedFiveTimes(scene, (domain) => scene.certified(domain));
    const domain = await scene.domain({ hostname });
    const { line, dueMs } = await heldUp(scene);
    expect(line).toMatchObject({ hostname, why: expect.stringContaining("five certificates were issued for it") });
    expect(new Date(line.until).getTime() - Date.now()).toBeGreaterThan(WEEK_MS - HOUR_MS);
    expect(dueMs).toBeGreaterThan(WEEK_MS - HOUR_MS);
    expect(scene.authority.orders).toHaveLength(5);
    const state = { isTaken: false, attempts: 0, error: null };
    expect(await scene.world.certificateOrders.find(domain.id)).toEqual(state);
    await process.stop();
    scene.world.clock.advance(dueMs);
    scene.start();
    await scene.certified(domain);
  });

  test("a certificate counts also if the domain is removed before it is stored", async () => {
    await using scene = new CertificateScene();
    scene.start();
    const { lookUp } = scene.authority;
    let removing: DomainName | undefined;
    scene.authority.lookUp = (name, token) => {
      const text = lookUp!(name, token);
      if (removing) void remove(scene, removing);
      return text;
    };
    await claimedFiveTimes(scene, async (domain) => {
      removing = domain;
      const { length } = scene.authority.issued;
      await eventually(
        async () => scene.authority.issued.length,
        (count) => count === length + 1,
      );
    });
    removing = undefined;
    await scene.domain({ hostname });
    await heldUp(scene);
    expect(scene.authority.orders).toHaveLength(5);
  });

  test("a domain that is removed and claimed again is refused by the authority five times an hour", async () => {
    await using scene = new CertificateScene();
    scene.authority.faults.push(...Array.from({ length: 5 }, () => ({ kind: "refused", words: "No" }) as const));
    const process = scene.start();
    await claimedFiveTimes(scene, ({ id }) =>
      eventually(
        () => scene.world.certificateOrders.find(id),
        (state) => state?.attempts === 1 && !state.isTaken,
      ),
    );
    const domain = await scene.domain({ hostname });
    const { line, dueMs } = await heldUp(scene);
    expect(line.why).toContain("has refused five orders of it within an hour");
    expect(scene.authority.orders).toEqual([]);
    await process.stop();
    scene.world.clock.advance(dueMs);
    scene.start();
    await scene.certified(domain);
  });

  test("orders that fail do not count as certificates, and renewals are not held up", async () => {
    await using scene = new CertificateScene();
    const domain = await scene.domain({ hostname });
    for (let time = 0; time < 6; time++) {
      scene.authority.faults.push({ kind: "unreachable" });
      const { stop } = scene.start();
      await eventually(
        () => scene.world.certificateOrders.find(domain.id),
        (state) => state?.attempts === time + 1 && !state.isTaken,
      );
      await stop();
      scene.world.clock.advance(HOUR_MS);
    }
    const { stop } = scene.start();
    const former = await scene.certified(domain);
    await stop();
    scene.world.clock.advance(61 * 24 * HOUR_MS);
    const limit = { limit: 5, windowMs: WEEK_MS };
    for (let time = 0; time < 5; time++) await scene.world.attempts.take(`certificate:issued:${hostname}`, limit);
    scene.start();
    await scene.certified(domain, former);
  });
});
