import { describe, expect, test } from "bun:test";
import { browser, member, memoryApp, ownerSession, type TestApp } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";

const RENEW = "/api/deployments/ssl/renew";
const HOUR_MS = 3_600_000;

/** An application with a verified custom domain. */
async function withDomain(app: TestApp, hostname = "www.example.com") {
  const { call, owner: token, world } = app;
  const project = await call("POST", "/api/projects", { token, body: { name: `Shop ${crypto.randomUUID()}` } });
  const projectId = project.body.data.id as string;
  const claimed = await call("POST", "/api/domains", { token, body: { projectId, hostname } });
  const { id, verification } = claimed.body.data;
  return {
    id: id as string,
    projectId,
    async verify() {
      world.nameRecords.set(verification.name, { texts: [verification.value] });
      expect((await call("POST", `/api/domains/${id}/verify`, { token })).status).toBe(200);
    },
  };
}

async function verified(app: TestApp, hostname = "www.example.com") {
  const domain = await withDomain(app, hostname);
  await domain.verify();
  return domain;
}

describe("POST /api/deployments/ssl/renew", () => {
  test("orders a certificate, and another one when asked again", async () => {
    const app = await memoryApp();
    await verified(app);
    const seen = new Set<string>();
    for (const number of [1, 2]) {
      const answer = await app.call("POST", RENEW, { token: app.owner, body: { domain: "WWW.example.com." } });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        success: true,
        domain: "www.example.com",
        status: "valid",
        notAfter: expect.any(String),
        issuer: "Memory authority",
      });
      seen.add((await app.world.certificates.find("www.example.com"))!.fingerprint256);
      expect(seen.size).toBe(number);
    }
    expect(app.world.certificateAuthority.orders).toHaveLength(2);
  });

  test("is refused after five certificates of the name within a week, and possible for other names", async () => {
    const app = await memoryApp();
    await verified(app);
    const renew = (domain: string) => app.call("POST", RENEW, { token: app.owner, body: { domain } });
    for (let issued = 0; issued < 5; issued++) expect((await renew("www.example.com")).status).toBe(200);
    app.world.clock.advance(24 * HOUR_MS);
    const refused = await renew("www.example.com");
    expect([refused.status, refused.body.code]).toEqual([429, "too_many_renewals"]);
    expect(refused.headers.get("retry-after")).toBe(`${6 * 24 * 3_600}`);
    expect(refused.body.error).toBe(
      "Cannot order a certificate for www.example.com yet: five certificates were issued for it within seven days. Wait 6 days",
    );
    await verified(app, "shop.example.com");
    expect((await renew("shop.example.com")).status).toBe(200);
    expect(app.world.certificateAuthority.orders).toHaveLength(6);
    app.world.clock.advance(6 * 24 * HOUR_MS);
    expect((await renew("www.example.com")).status).toBe(200);
  });

  test("is refused after the authority has refused five orders within an hour, and not because it was away", async () => {
    const app = await memoryApp();
    await verified(app);
    const renew = () => app.call("POST", RENEW, { token: app.owner, body: { domain: "www.example.com" } });
    const { faults } = app.world.certificateAuthority;
    for (const kind of ["unreachable", "refused", "refused", "refused", "refused", "refused"] as const) {
      faults.push({ kind, words: "No" });
      expect((await renew()).status).toBe(502);
    }
    const refused = await renew();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3600"]);
    expect(refused.body.error).toContain("has refused five orders of it within an hour. Wait 60 minutes");
    app.world.clock.advance(HOUR_MS);
    expect((await renew()).status).toBe(200);
  });

  test("is entered in the audit log, without a key", async () => {
    const app = await memoryApp();
    await verified(app);
    await app.call("POST", RENEW, { token: app.owner, body: { domain: "www.example.com" } });
    const { text } = await app.call("GET", "/api/audit", { token: app.owner });
    expect(text).toContain("certificate.renew");
    expect(text).not.toContain("PRIVATE KEY");
  });

  test.each([
    ["an unknown domain", "other.example.com", 404, "domain_not_found"],
    ["what is no host name", "../x", 404, "domain_not_found"],
    ["an unverified domain", "new.example.com", 400, "domain_unverified"],
    ["a free name", "shop-free.localhost", 400, "domain_free"],
  ])("refuses %s without an order", async (_, domain, status, code) => {
    const app = await memoryApp();
    const { projectId } = await withDomain(app, "new.example.com");
    const body = { projectId, hostname: "shop-free.localhost" };
    await app.call("POST", "/api/domains", { token: app.owner, body });
    const answer = await app.call("POST", RENEW, { token: app.owner, body: { domain } });
    expect(answer.status).toBe(status);
    expect(answer.body.code).toBe(code);
    expect(app.world.certificateAuthority.orders).toEqual([]);
  });

  test("answers another organization as if the domain did not exist", async () => {
    const app = await memoryApp();
    await verified(app);
    const cookie = await ownerSession(app);
    const created = await app.call("POST", "/api/organizations", { ...browser(cookie), body: { name: "Other" } });
    const as = browser(cookie, { "x-organization-id": created.body.data.id });
    const [foreign, unknown] = [
      await app.call("POST", RENEW, { ...as, body: { domain: "www.example.com" } }),
      await app.call("POST", RENEW, { ...as, body: { domain: "unknown.example.com" } }),
    ];
    expect(foreign.status).toBe(404);
    expect({ ...foreign.body, requestId: "" }).toEqual({ ...unknown.body, requestId: "" });
    expect(app.world.certificateAuthority.orders).toEqual([]);
  });

  test("needs deployment:write", async () => {
    const app = await memoryApp();
    await verified(app);
    const { token } = await member(app, "viewer");
    expect((await app.call("POST", RENEW, { token, body: { domain: "www.example.com" } })).status).toBe(403);
  });

  test("answers 400 where no certificates are ordered", async () => {
    const app = await memoryApp({ acmeDirectoryUrl: undefined });
    await verified(app);
    const answer = await app.call("POST", RENEW, { token: app.owner, body: { domain: "www.example.com" } });
    expect([answer.status, answer.body.code]).toEqual([400, "certificates_off"]);
  });

  test("answers 502 with the authority's own words, also when it is away", async () => {
    const app = await memoryApp();
    await verified(app);
    const { faults } = app.world.certificateAuthority;
    faults.push({ kind: "refused", words: "Too many certificates for example.com", retryAfter: 60 });
    const request = { token: app.owner, body: { domain: "www.example.com" } };
    const refused = await app.call("POST", RENEW, request);
    expect(refused.status).toBe(502);
    expect(refused.body.error).toContain("Too many certificates for example.com");
    faults.push({ kind: "unreachable" });
    expect((await app.call("POST", RENEW, request)).status).toBe(502);
    expect((await app.call("POST", RENEW, request)).status).toBe(200);
  });

  test("several requests at once share one order and its outcome", async () => {
    const app = await memoryApp();
    await verified(app);
    const { certificateAuthority } = app.world;
    certificateAuthority.delayMs = 20;
    const request = { token: app.owner, body: { domain: "www.example.com" } };
    const renewing = () => Promise.all([1, 2, 3].map(() => app.call("POST", RENEW, request)));
    expect((await renewing()).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(certificateAuthority.orders).toHaveLength(1);
    certificateAuthority.faults.push({ kind: "refused", words: "No" });
    const failed = await renewing();
    expect(failed.map(({ status }) => status)).toEqual([502, 502, 502]);
    for (const { body } of failed) expect(body.error).toContain("No");
    expect(certificateAuthority.orders).toHaveLength(1);
  });

  test("waits for an order that another server has taken, and goes on with it once that is gone", async () => {
    const app = await memoryApp();
    const { id } = await verified(app);
    await app.world.certificateOrders.take({ leaseMs: 20_000, domainId: id });
    const renewing = app.call("POST", RENEW, { token: app.owner, body: { domain: "www.example.com" } });
    await Bun.sleep(50);
    expect(app.world.certificateAuthority.orders).toEqual([]);
    app.world.clock.advance(20_001);
    expect((await renewing).status).toBe(200);
    await eventually(
      async () => app.world.certificateAuthority.orders.length,
      (count) => count === 1,
    );
  });
});
