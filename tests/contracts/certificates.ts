import { describe, expect, test } from "bun:test";
import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import { eventually } from "../support/eventually.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aCustomDomain, certificateOf, progressOf } from "../support/database/certificate_builders.ts";
import { aPlace, domainOf, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const RENEW_AT = new Date("2999-01-01T00:00:00.000Z");

type Ports =
  | "certificateOrders"
  | "certificates"
  | "domains"
  | "elsewhere"
  | "installation"
  | "organizations"
  | "projects";

/** Contract tests for `Certificates` adapters. */
export function certificatesContract(name: string, open: () => Promise<WorldOf<Ports>>) {
  describe(`Certificates contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function issued({ id, hostname }: DomainName, overrides: Partial<Certificate> = {}): Promise<Certificate> {
      const certificate = certificateOf(hostname, overrides);
      const order = await world().certificateOrders.take({ leaseMs: 60_000, domainId: id });
      expect(await world().certificateOrders.complete(order!, certificate, RENEW_AT)).toBe(true);
      return certificate;
    }

    async function shown(hostname: string) {
      const { certificates, elsewhere } = world();
      const listed = (await certificates.list()).filter((certificate) => certificate.hostname === hostname);
      const found = await elsewhere.certificates.find(hostname);
      expect(listed).toEqual(found ? [found] : []);
      return found && { ...found, key: found.key.reveal() };
    }

    test("find() and list() return a certificate with its key, and nothing for other names", async () => {
      const domain = await aCustomDomain(world());
      expect(await shown(domain.hostname)).toBeUndefined();
      const certificate = await issued(domain);
      expect(await shown(domain.hostname)).toEqual({ ...certificate, key: certificate.key.reveal() });
      expect(Bun.inspect(await world().certificates.find(domain.hostname))).not.toContain(certificate.key.reveal());
    });

    test("a new certificate replaces the former one", async () => {
      const domain = await aCustomDomain(world());
      await issued(domain);
      const next = await issued(domain, { fingerprint256: "CC:DD", notAfter: minutes(5) });
      expect(await shown(domain.hostname)).toMatchObject({ fingerprint256: "CC:DD", notAfter: next.notAfter });
    });

    test("a removed domain or project takes its certificate along, also if the name is claimed again", async () => {
      const [domain, other] = [await aCustomDomain(world()), await aCustomDomain(world())];
      await issued(domain);
      await issued(other);
      await world().domains.remove(domain.organizationId, domain.id);
      await world().projects.remove(other.organizationId, other.projectId);
      for (const { hostname } of [domain, other]) {
        expect(await shown(hostname)).toBeUndefined();
        const next = domainOf({ ...(await aPlace(world())), hostname });
        expect(await world().domains.claim(next)).toBe(true);
        await world().domains.verified(next.organizationId, next.id, minutes(1));
        expect(await shown(hostname)).toBeUndefined();
      }
    });

    test("onChange() receives certificates, proofs and removals of another process, until it is stopped", async () => {
      const { certificates, elsewhere } = world();
      const received: (string | null)[] = [];
      const stop = certificates.onChange((hostname) => void received.push(hostname));
      const isTold = (hostname: string) =>
        eventually(
          async () => received.includes(hostname),
          (told) => told,
        );
      const domain = await aCustomDomain(world());
      const order = (await elsewhere.certificateOrders.take({ leaseMs: 60_000, domainId: domain.id }))!;
      await elsewhere.certificateOrders.save(order, progressOf({ url: null, proof: null }), 60_000);
      received.length = 0;
      await elsewhere.certificateOrders.save(order, progressOf(), 60_000);
      await isTold(domain.hostname);
      received.length = 0;
      await elsewhere.certificateOrders.complete(order, certificateOf(domain.hostname), RENEW_AT);
      await isTold(domain.hostname);
      await certificates.followed(60_000);
      received.length = 0;
      await world().domains.remove(domain.organizationId, domain.id);
      await isTold(domain.hostname);
      stop();
      received.length = 0;
      await issued(await aCustomDomain(world()));
      expect(await certificates.followed(60_000)).toBe(true);
      expect(received).toEqual([]);
    });

    test("followed() waits until every process has applied a change, at most for the given time", async () => {
      const { certificates, elsewhere } = world();
      const domain = await aCustomDomain(world());
      const gate = Promise.withResolvers<void>();
      let isDone = false;
      const stop = elsewhere.certificates.onChange(async (hostname) => {
        if (hostname !== domain.hostname) return;
        await gate.promise;
        isDone = true;
      });
      await issued(domain);
      expect(await certificates.followed(200)).toBe(false);
      const following = certificates.followed(60_000).then((all) => [all, isDone]);
      gate.resolve();
      expect(await following).toEqual([true, true]);
      stop();
    });
  });
}
