import { describe, expect, test } from "bun:test";
import type { CertificateOrder } from "../../domain/certificates/certificate_order.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import { newId } from "../../domain/id.ts";
import { eventually } from "../support/eventually.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aCustomDomain, certificateOf, progressOf } from "../support/database/certificate_builders.ts";
import { aPlace, domainOf, minutes, START } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const LEASE_MS = 60_000;
const LONG_MS = 3_600_000;

type Ports =
  | "certificateOrders"
  | "certificates"
  | "domains"
  | "elapse"
  | "elsewhere"
  | "installation"
  | "now"
  | "organizations"
  | "projects";

/** Contract tests for `CertificateOrders` adapters. */
export function certificateOrdersContract(name: string, open: () => Promise<WorldOf<Ports>>) {
  describe(`CertificateOrders contract: ${name}`, () => {
    const world = sharedWorld(open);

    function take({ id }: Pick<DomainName, "id">, leaseMs = LEASE_MS): Promise<CertificateOrder | undefined> {
      return world().certificateOrders.take({ leaseMs, domainId: id });
    }

    /** Takes all that is due, as others use the same world; resolves to the taken domains. */
    async function due(leaseMs = LEASE_MS): Promise<readonly string[]> {
      const taken: string[] = [];
      for (;;) {
        const order = await world().certificateOrders.take({ leaseMs });
        if (!order) return taken;
        taken.push(order.domainId);
      }
    }

    async function proofOf({ hostname }: DomainName) {
      return (await world().elsewhere.certificateOrders.proofs()).find((proof) => proof.hostname === hostname);
    }

    function ended(order: CertificateOrder, renewAfterMs: number, certificate = certificateOf(order.hostname)) {
      const renewAt = new Date(world().now().getTime() + renewAfterMs);
      return world().certificateOrders.complete(order, certificate, renewAt);
    }

    test("take() returns the order of a custom domain from its verification on, once", async () => {
      const domain = await aCustomDomain(world(), { verifiedAt: null });
      expect(await due()).not.toContain(domain.id);
      expect(await world().certificateOrders.find(domain.id)).toBeUndefined();
      expect(await take(domain)).toBeUndefined();
      await world().domains.verified(domain.organizationId, domain.id, minutes(1));
      expect(await world().certificateOrders.find(domain.id)).toEqual({ isTaken: false, attempts: 0, error: null });
      expect(await due()).toEqual([domain.id]);
      expect(await due()).toEqual([]);
      expect(await take(domain)).toBeUndefined();
      expect(await world().certificateOrders.find(domain.id)).toEqual({ isTaken: true, attempts: 0, error: null });
    });

    test("take() returns no free name and no unknown domain", async () => {
      const free = await aCustomDomain(world(), { type: "free" });
      expect(await due()).not.toContain(free.id);
      expect(await take(free)).toBeUndefined();
      expect(await take({ id: newId("dom") })).toBeUndefined();
      expect(await world().certificateOrders.find(newId("dom"))).toBeUndefined();
    });

    test("of processes that take() at once, each order goes to one", async () => {
      const domains = await Promise.all(Array.from({ length: 5 }, () => aCustomDomain(world())));
      const { certificateOrders, elsewhere } = world();
      const taken = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 ? certificateOrders : elsewhere.certificateOrders).take({ leaseMs: LEASE_MS }),
        ),
      );
      const ids = taken.flatMap((order) => order?.domainId ?? []);
      expect(new Set(ids).size).toBe(ids.length);
      expect([...ids, ...(await due())].toSorted()).toEqual(
        expect.arrayContaining(domains.map(({ id }) => id).toSorted()),
      );
    });

    test("an order whose lease has expired is taken as far as it was, and its former holder changes nothing", async () => {
      const domain = await aCustomDomain(world());
      const former = (await take(domain))!;
      expect(former).toMatchObject({
        hostname: domain.hostname,
        organizationId: domain.organizationId,
        progress: null,
      });
      expect(await world().certificateOrders.save(former, progressOf(), LEASE_MS)).toBe(true);
      await world().elapse(LEASE_MS + 1_000);
      const next = (await world().elsewhere.certificateOrders.take({ leaseMs: LEASE_MS, domainId: domain.id }))!;
      const { key, ...rest } = next.progress!;
      expect(rest).toEqual({ url: progressOf().url, proof: progressOf().proof });
      expect(key.reveal()).toBe("order key");
      expect(await world().certificateOrders.save(former, progressOf({ url: null }), LEASE_MS)).toBe(false);
      expect(await ended(former, LONG_MS)).toBe(false);
      await world().certificateOrders.retry(former, { error: "late", afterMs: 0, progress: null });
      expect(await world().certificates.find(domain.hostname)).toBeUndefined();
      expect(await world().certificateOrders.find(domain.id)).toEqual({ isTaken: true, attempts: 0, error: null });
      expect(await ended(next, LONG_MS)).toBe(true);
    });

    test("save() extends the lease", async () => {
      const domain = await aCustomDomain(world());
      const order = (await take(domain))!;
      await world().elapse(LEASE_MS / 2);
      await world().certificateOrders.save(order, progressOf(), LEASE_MS);
      await world().elapse(LEASE_MS / 2 + 1_000);
      expect(await take(domain)).toBeUndefined();
    });

    test("complete() stores the certificate, and the next order is due at the given time", async () => {
      const domain = await aCustomDomain(world());
      const order = (await take(domain))!;
      await world().certificateOrders.save(order, progressOf(), LEASE_MS);
      expect(await ended(order, LONG_MS)).toBe(true);
      expect((await world().certificates.find(domain.hostname))?.fingerprint256).toBe("AA:BB");
      expect(await proofOf(domain)).toBeUndefined();
      expect(await due()).not.toContain(domain.id);
      await world().elapse(LONG_MS + 1_000);
      expect(await due()).toContain(domain.id);
    });

    test("take() of a domain returns its order before it is due", async () => {
      const domain = await aCustomDomain(world());
      await ended((await take(domain))!, LONG_MS);
      expect(await take(domain)).toMatchObject({ domainId: domain.id, progress: null, attempts: 0 });
    });

    test("retry() counts failures and keeps their words until a success, and the progress as told", async () => {
      const domain = await aCustomDomain(world());
      const { certificateOrders } = world();
      const failed = { error: "Too many", afterMs: LONG_MS, progress: progressOf() };
      await certificateOrders.retry((await take(domain))!, failed);
      expect(await certificateOrders.find(domain.id)).toEqual({ isTaken: false, attempts: 1, error: "Too many" });
      expect(await due()).not.toContain(domain.id);
      await world().elapse(LONG_MS + 1_000);
      const second = (await take(domain))!;
      expect(second).toMatchObject({ attempts: 1, progress: { url: progressOf().url } });
      await certificateOrders.retry(second, { ...failed, error: "No", progress: null });
      const third = (await take(domain))!;
      expect(third).toMatchObject({ attempts: 2, progress: null });
      await ended(third, LONG_MS);
      expect(await certificateOrders.find(domain.id)).toEqual({ isTaken: false, attempts: 0, error: null });
    });

    test("retry() of an interrupted order counts no failure", async () => {
      const domain = await aCustomDomain(world());
      const { certificateOrders } = world();
      await certificateOrders.retry((await take(domain))!, { error: null, afterMs: 0, progress: progressOf() });
      expect(await certificateOrders.find(domain.id)).toEqual({ isTaken: false, attempts: 0, error: null });
      expect(await due()).toContain(domain.id);
    });

    test("proofs() lists what orders under way have to prove", async () => {
      const domain = await aCustomDomain(world());
      const order = (await take(domain))!;
      await world().certificateOrders.save(order, progressOf({ url: null, proof: null }), LEASE_MS);
      expect(await proofOf(domain)).toBeUndefined();
      await world().certificateOrders.save(order, progressOf(), LEASE_MS);
      expect(await proofOf(domain)).toEqual({ hostname: domain.hostname, ...progressOf().proof! });
      await world().domains.remove(domain.organizationId, domain.id);
      expect(await proofOf(domain)).toBeUndefined();
    });

    test("a removed domain takes its order along, and the name's next one starts anew", async () => {
      const domain = await aCustomDomain(world());
      const order = (await take(domain))!;
      await world().certificateOrders.save(order, progressOf(), LEASE_MS);
      await world().domains.remove(domain.organizationId, domain.id);
      const next = domainOf({ ...(await aPlace(world())), hostname: domain.hostname, verifiedAt: START });
      await world().domains.claim(next);
      expect(await world().certificateOrders.save(order, progressOf(), LEASE_MS)).toBe(false);
      expect(await ended(order, LONG_MS)).toBe(false);
      expect(await world().certificates.find(domain.hostname)).toBeUndefined();
      expect(await take(next)).toMatchObject({ organizationId: next.organizationId, progress: null });
    });

    test("nextDueMs() returns when the next order can be taken", async () => {
      const { certificateOrders } = world();
      const domain = await aCustomDomain(world());
      expect(await certificateOrders.nextDueMs()).toBe(0);
      await due(LONG_MS);
      expect(await certificateOrders.nextDueMs()).toBeGreaterThan(0);
      await world().elapse(LONG_MS + 1_000);
      expect(await certificateOrders.nextDueMs()).toBe(0);
      for (const id of [...(await due(LONG_MS)), domain.id]) {
        const order = await take({ id });
        if (order) await ended(order, LONG_MS);
      }
    });

    test("onDue() is told of a domain verified, and of an order released, by another process", async () => {
      let told = 0;
      const { certificateOrders, elsewhere } = world();
      const stop = certificateOrders.onDue(() => told++);
      const domain = await aCustomDomain(world(), { verifiedAt: null });
      const isTold = async (work: () => Promise<unknown>) => {
        const before = told;
        await work();
        await eventually(
          async () => told,
          (now) => now > before,
        );
      };
      await isTold(() => world().domains.verified(domain.organizationId, domain.id, minutes(1)));
      const taken = (await elsewhere.certificateOrders.take({ leaseMs: LEASE_MS, domainId: domain.id }))!;
      await isTold(() => elsewhere.certificateOrders.retry(taken, { error: null, afterMs: 0, progress: null }));
      stop();
    });
  });
}
