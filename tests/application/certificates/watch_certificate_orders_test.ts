import { describe, expect, test } from "bun:test";
import { CertificateScene, proofAt } from "../../support/apps/certificate_scene.ts";
import { eventually } from "../../support/eventually.ts";

const DAY_MS = 86_400_000;
const LEASE_MS = 20_000;
const REFUSED = { kind: "refused", words: "Too many certificates" } as const;

/** Waits until an attempt has failed this often in a row. */
function failed(scene: CertificateScene, domainId: string, attempts: number) {
  return eventually(
    () => scene.world.certificateOrders.find(domainId),
    (state) => state?.attempts === attempts && !state.isTaken,
  );
}

describe("watchCertificateOrders()", () => {
  test("orders a certificate for each verified domain, presents it everywhere, and removes the proof", async () => {
    await using scene = new CertificateScene();
    const [one, other] = [scene.start(), scene.start({ orders: false })];
    const domain = await scene.domain();
    const { key } = await scene.certified(domain);
    for (const { edge } of [one, other]) {
      await eventually(
        async () => edge.certificateOf(domain.hostname),
        (presented) => presented?.key === key,
      );
      expect(proofAt(edge, domain.hostname, "token-1")).toBeUndefined();
    }
    expect(scene.authority.issued).toEqual([domain.hostname]);
    expect(scene.authority.orders).toEqual([domain.hostname]);
  });

  test("orders when a domain is verified, not before, and no free name", async () => {
    await using scene = new CertificateScene();
    scene.start();
    const domain = await scene.domain({ verifiedAt: null });
    await scene.domain({ type: "free" });
    await Bun.sleep(20);
    expect(scene.authority.orders).toEqual([]);
    await scene.world.domains.verified(domain.organizationId, domain.id, scene.world.clock.now());
    await scene.certified(domain);
    expect(scene.authority.orders).toEqual([domain.hostname]);
  });

  test("renews after two thirds of the life, and the former certificate stays until then", async () => {
    await using scene = new CertificateScene();
    const { stop } = scene.start();
    const domain = await scene.domain();
    const former = await scene.certified(domain);
    await stop();
    scene.world.clock.advance(54 * DAY_MS);
    const early = scene.start();
    await Bun.sleep(20);
    expect(scene.authority.issued).toHaveLength(1);
    await early.stop();
    scene.world.clock.advance(7 * DAY_MS);
    const { edge } = scene.start();
    const { chain: next } = await scene.certified(domain, former);
    await eventually(
      async () => edge.certificateOf(domain.hostname)?.chain,
      (chain) => chain === next,
    );
  });

  test("retries a refused order with growing pauses, and keeps the former certificate and the words", async () => {
    await using scene = new CertificateScene();
    const first = scene.start();
    const domain = await scene.domain();
    const former = await scene.certified(domain);
    await first.stop();
    scene.authority.faults.push(REFUSED, REFUSED, REFUSED);
    scene.world.clock.advance(61 * DAY_MS);
    for (const [attempt, minutes] of [1, 2, 4].entries()) {
      const { stop, edge } = scene.start();
      const state = await failed(scene, domain.id, attempt + 1);
      expect(state?.error).toContain("Too many certificates");
      const dueMs = (await scene.world.certificateOrders.nextDueMs())!;
      expect(dueMs).toBeGreaterThanOrEqual(minutes * 60_000);
      expect(dueMs).toBeLessThanOrEqual(minutes * 63_000);
      expect(edge.certificateOf(domain.hostname)?.chain).toBe(former.chain);
      await stop();
      scene.world.clock.advance(dueMs);
    }
    scene.start();
    await scene.certified(domain, former);
  });

  test("waits as long as the authority asks for", async () => {
    await using scene = new CertificateScene();
    scene.authority.faults.push({ ...REFUSED, retryAfter: 36_000 });
    scene.start();
    const domain = await scene.domain();
    await failed(scene, domain.id, 1);
    expect(await scene.world.certificateOrders.nextDueMs()).toBeGreaterThanOrEqual(36_000_000);
  });

  test("continues an order after the authority was away, without a second one", async () => {
    await using scene = new CertificateScene();
    const { world } = scene;
    scene.authority.faults.push(null, { kind: "unreachable" });
    const first = scene.start();
    const domain = await scene.domain();
    await failed(scene, domain.id, 1);
    await first.stop();
    world.clock.advance(2 * 60_000);
    scene.start();
    await scene.certified(domain);
    expect(scene.authority.orders).toHaveLength(1);
  });

  test("orders a few at a time when 100 names are due at a start", async () => {
    await using scene = new CertificateScene();
    scene.authority.delayMs = 1;
    const domains = await Promise.all(Array.from({ length: 100 }, () => scene.domain()));
    scene.start();
    for (const domain of domains) await scene.certified(domain);
    expect(scene.authority.load.most).toBeLessThanOrEqual(3);
    expect(scene.authority.issued).toHaveLength(100);
  });

  test.each([
    ["is away", "unreachable"],
    ["limits the whole account", "limited"],
  ] as const)("asks for a few names only while the authority %s", async (_, kind) => {
    await using scene = new CertificateScene();
    const fault = { kind, words: "Too many new orders", retryAfter: 60 };
    scene.authority.faults.push(...Array.from({ length: 100 }, () => fault));
    await Promise.all(Array.from({ length: 20 }, () => scene.domain()));
    scene.start();
    await eventually(
      async () => scene.authority.faults.length,
      (left) => left < 100,
    );
    await Bun.sleep(50);
    expect(scene.authority.faults.length).toBeGreaterThanOrEqual(97);
    expect(scene.world.log.lines.some(({ text }) => text.includes("limit of the authority"))).toBe(kind === "limited");
  });

  test("orders for other names after the authority has refused one, with a time to wait", async () => {
    await using scene = new CertificateScene();
    scene.authority.faults.push({ ...REFUSED, retryAfter: 60 });
    const limited = await scene.domain();
    const domains = await Promise.all(Array.from({ length: 10 }, () => scene.domain()));
    scene.start();
    for (const domain of domains) await scene.certified(domain);
    expect(scene.authority.issued).not.toContain(limited.hostname);
  });

  test("a stop interrupts an order at an authority that hangs; the next process continues it at once", async () => {
    await using scene = new CertificateScene();
    scene.authority.faults.push(null, { kind: "hanging" });
    const first = scene.start();
    const domain = await scene.domain();
    await eventually(
      async () => scene.authority.orders.length,
      (count) => count === 1,
    );
    await Bun.sleep(5);
    await first.stop();
    expect(await scene.world.certificateOrders.find(domain.id)).toEqual({ isTaken: false, attempts: 0, error: null });
    scene.start();
    await scene.certified(domain);
    expect(scene.authority.orders).toHaveLength(1);
  });

  test("a removed domain loses certificate and proof at all edges, and its order stores nothing", async () => {
    await using scene = new CertificateScene();
    const [{ edge }, other] = [scene.start(), scene.start({ orders: false })];
    const [certified, ordering] = [await scene.domain(), await scene.domain()];
    await scene.certified(certified);
    await scene.certified(ordering);
    for (const { organizationId, id } of [certified, ordering]) await scene.world.domains.remove(organizationId, id);
    for (const each of [edge, other.edge]) {
      await eventually(
        async () => each.certificateOf(certified.hostname) ?? each.certificateOf(ordering.hostname),
        (presented) => presented === undefined,
      );
    }
  });

  test("of two processes, one carries out an order", async () => {
    await using scene = new CertificateScene();
    scene.authority.delayMs = 2;
    scene.start();
    scene.start();
    const domains = await Promise.all(Array.from({ length: 10 }, () => scene.domain()));
    for (const domain of domains) await scene.certified(domain);
    expect(scene.authority.orders.toSorted()).toEqual(domains.map(({ hostname }) => hostname).toSorted());
  });

  test("a process whose lease has expired stores nothing that its successor owns", async () => {
    await using scene = new CertificateScene();
    const domain = await scene.domain();
    const stale = (await scene.world.certificateOrders.take({ leaseMs: LEASE_MS, domainId: domain.id }))!;
    scene.world.clock.advance(LEASE_MS + 1);
    scene.start();
    const { fingerprint256 } = await scene.certified(domain);
    const late = { ...(await scene.certified(domain)), fingerprint256: "late" };
    expect(await scene.world.certificateOrders.complete(stale, late, new Date())).toBe(false);
    expect((await scene.certified(domain)).fingerprint256).toBe(fingerprint256);
  });
});
