import { describe, expect, test } from "bun:test";
import { MemoryEdge } from "../../../adapters/memory/edge.ts";
import { type CertificateState, followCertificates } from "../../../application/certificates/follow_certificates.ts";
import { proofPage } from "../../../domain/domains/domain_name.ts";
import { CertificateScene, proofAt } from "../../support/apps/certificate_scene.ts";
import { progressOf } from "../../support/database/certificate_builders.ts";

/** A scene with a certified domain, and the follower of a process that starts after that. */
async function aStart(mode: "self-hosted" | "cloud" = "self-hosted") {
  await using opened = new AsyncDisposableStack();
  const scene = opened.use(new CertificateScene());
  const ordering = scene.start();
  const domain = await scene.domain();
  const certificate = await scene.certified(domain);
  await ordering.stop();
  const edge = new MemoryEdge();
  const follower = followCertificates({ ...scene.world, edge, mode });
  const lifetime = opened.move();
  return { scene, domain, certificate, edge, ...follower, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

describe("followCertificates()", () => {
  test("begin() hands over all certificates and proofs, which are not presented once more", async () => {
    await using start = await aStart();
    const { scene, certificate, edge } = start;
    const waiting = await scene.domain();
    const order = (await scene.world.certificateOrders.take({ leaseMs: 60_000, domainId: waiting.id }))!;
    const progress = progressOf();
    await scene.world.certificateOrders.save(order, progress, 60_000);
    const states: CertificateState[] = [];
    await start.begin(async (state) => void states.push(state));
    expect(states.map(({ certificates }) => certificates.map(({ chain }) => chain))).toEqual([[certificate.chain]]);
    const { token, text } = progress.proof!;
    expect(states[0]!.proofs).toMatchObject([
      {
        hostname: waiting.hostname,
        pathPrefix: `/.well-known/acme-challenge/${token}`,
        target: { kind: "text", text },
      },
    ]);
    await start.follow(null);
    expect(edge.certificateOf(certificate.hostname)).toBeUndefined();
    await scene.world.domains.remove(waiting.organizationId, waiting.id);
    await start.follow(waiting.hostname);
    expect(proofAt(edge, waiting.hostname, token)).toBeUndefined();
  });

  test("a change during begin() is followed after it", async () => {
    await using start = await aStart();
    const { scene, domain, certificate, edge } = start;
    const applying = Promise.withResolvers<void>();
    const begun = start.begin(async ({ certificates: [first] }) => {
      await edge.present(domain.hostname, first!);
      await applying.promise;
    });
    await scene.world.domains.remove(domain.organizationId, domain.id);
    const followed = start.follow(domain.hostname);
    applying.resolve();
    await begun;
    await followed;
    expect(edge.certificateOf(certificate.hostname)).toBeUndefined();
  });

  test("a name that waits for its verification is answered for until then, and not in cloud mode", async () => {
    await using start = await aStart();
    await using cloud = await aStart("cloud");
    for (const { scene, edge, follow } of [start, cloud]) {
      const claim = await scene.domain({ verifiedAt: null });
      const { path, text } = proofPage(claim);
      const answered = () => edge.routeOf(claim.hostname, path)?.target;
      await follow(claim.hostname);
      expect(answered()).toEqual(scene === cloud.scene ? undefined : { kind: "text", text });
      await scene.world.domains.verified(claim.organizationId, claim.id, claim.createdAt);
      await follow(null);
      expect(answered()).toBeUndefined();
    }
  });

  test("one unusable certificate does not keep the others from visitors", async () => {
    await using start = await aStart();
    const { scene, domain, certificate, edge } = start;
    const { certificates } = scene.tables.certificates;
    const bad = await scene.domain({ hostname: "a.bad.example" });
    certificates.set(bad.id, { ...certificate, hostname: bad.hostname, chain: "none" });
    await expect(start.follow(null)).rejects.toThrow();
    expect(edge.certificateOf(domain.hostname)?.chain).toBe(certificate.chain);
  });
});
