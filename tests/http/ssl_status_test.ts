import { beforeAll, describe, expect, test } from "bun:test";
import { anything, assert, asyncProperty, constant, domain, ipV4, ipV6, oneof, string, webUrl } from "fast-check";
import type { Handshake } from "../../domain/certificates/handshake.ts";
import { member, memoryApp, type TestApp } from "../support/apps/app.ts";

const HOST = "www.example.com";
const PUBLIC = "93.184.215.14";
const PATH = "/api/deployments/ssl/status";

let app: TestApp;
beforeAll(async () => {
  app = await memoryApp();
  const inDays = (days: number) => new Date(app.world.clock.now().getTime() + days * 86_400_000);
  const certificate = {
    issuer: "R11",
    subject: HOST,
    names: [HOST, "example.com"],
    notBefore: inDays(-30),
    notAfter: inDays(60.5),
    fingerprint256: "AA:BB",
  };
  const handshake: Handshake = { kind: "presented", certificate, chainFault: null };
  app.world.nameRecords.set(HOST, { addresses: [PUBLIC] });
  app.world.tlsProbe.serve(PUBLIC, 443, () => handshake);
});

const ask = (body: unknown, token = app.owner) => app.call("POST", PATH, { token, body });

describe(`POST ${PATH}`, () => {
  test("describes the certificate", async () => {
    const { status, body } = await ask({ domain: "WWW.example.com" });
    const now = app.world.clock.now().getTime();
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        domain: HOST,
        status: "valid",
        reason: null,
        issuer: "R11",
        subject: HOST,
        names: [HOST, "example.com"],
        notBefore: new Date(now - 30 * 86_400_000).toISOString(),
        notAfter: new Date(now + 60.5 * 86_400_000).toISOString(),
        daysLeft: 60,
        fingerprint256: "AA:BB",
        chainValid: true,
      },
    ]);
  });

  test("has nulls and a reason where no certificate was presented", async () => {
    const { status, body } = await ask({ domain: "missing.example.com" });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        domain: "missing.example.com",
        status: "unreachable",
        reason: expect.stringContaining('"missing.example.com" has no address'),
        issuer: null,
        subject: null,
        names: [],
        notBefore: null,
        notAfter: null,
        daysLeft: null,
        fingerprint256: null,
        chainValid: null,
      },
    ]);
  });

  test.each([
    {},
    { domain: null },
    { domain: 7 },
    { domain: "" },
    { domain: [HOST] },
    { domain: HOST, port: 8443 },
    { domain: `https://${HOST}` },
    { domain: `${HOST}:443` },
    { domain: "192.0.2.1" },
    { domain: `${"a".repeat(64)}.example.com` },
    { domain: "a.".repeat(200) },
  ])("refuses %j", async (body) => {
    const answer = await ask(body);
    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
    expect(answer.body.details[0].path).toMatch(/^(domain|port)$/);
  });

  test("refuses a request without a body", async () => {
    const { status, body } = await app.call("POST", PATH, { token: app.owner });
    expect([status, body.code]).toEqual([400, "invalid_request"]);
  });

  test("needs deployment:read", async () => {
    const narrowed = async (permission: string) => {
      const body = { name: permission, permissions: [permission] };
      return (await app.call("POST", "/api/tokens", { token: app.owner, body })).body.data.token as string;
    };
    expect((await app.call("POST", PATH, { body: { domain: HOST } })).status).toBe(401);
    expect((await ask({ domain: HOST }, await narrowed("project:admin"))).status).toBe(403);
    expect((await ask({ domain: HOST }, await narrowed("deployment:list"))).status).toBe(403);
    expect((await ask({ domain: HOST }, await narrowed("deployment:read"))).status).toBe(200);
    expect((await ask({ domain: HOST }, (await member(app, "viewer")).token)).status).toBe(200);
  });

  test("asks the edge for the free name of a project", async () => {
    await ask({ domain: "harbour.localhost" });
    expect(app.world.tlsProbe.handshakes).not.toContain("harbour.localhost at 127.0.0.1 port 4443");
    await app.call("POST", "/api/projects", { token: app.owner, body: { name: "Harbour" } });
    expect((await ask({ domain: "harbour.localhost" })).body.status).toBe("unreachable");
    expect(app.world.tlsProbe.handshakes).toContain("harbour.localhost at 127.0.0.1 port 4443");
  });

  test("answers 200 or 400 to anything, in both modes", async () => {
    const cloud = await memoryApp({ mode: "cloud" });
    const name = oneof(domain(), string({ unit: "binary" }), webUrl(), ipV4(), ipV6(), anything(), constant(HOST));
    await assert(
      asyncProperty(name, async (given) => {
        for (const { call, owner } of [app, cloud]) {
          const { status } = await call("POST", PATH, { token: owner, body: { domain: given } });
          expect([200, 400]).toContain(status);
        }
      }),
    );
  });

  test.each([["10.0.0.7"], ["127.0.0.1"], ["169.254.169.254"], ["fe80::1"]])(
    "refuses a name with the address %p in cloud mode",
    async (address) => {
      const cloud = await memoryApp({ mode: "cloud" });
      cloud.world.nameRecords.set(HOST, { addresses: [address] });
      const { status, body } = await cloud.call("POST", PATH, { token: cloud.owner, body: { domain: HOST } });
      expect([status, body.details[0].path]).toEqual([400, "domain"]);
      expect(cloud.world.tlsProbe.handshakes).toEqual([]);
    },
  );
});
