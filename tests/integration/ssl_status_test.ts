import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NodeTlsProbe } from "../../adapters/tls/node_tls_probe.ts";
import type { PresentedOnStage, ServerBehaviour } from "../contracts/tls_probe.ts";
import { memoryApp } from "../support/apps/app.ts";
import { TlsServers } from "../support/peers/tls_servers.ts";

const HOST = "harbour.localhost";
const IN_DATE = { subject: HOST, names: [HOST], from: -30, to: 60 };

let servers: TlsServers;
beforeAll(() => {
  servers = new TlsServers();
});
afterAll(() => servers[Symbol.asyncDispose]());

/** Asks for the certificate of a project's own name while this server stands in the place of the edge. */
async function statusOf(server: PresentedOnStage | ServerBehaviour) {
  const edgeTlsPort = await servers.serve(server);
  const tlsProbe = new NodeTlsProbe({ authorities: [servers.trusted], timeoutMs: 1_000 });
  const { call, owner, world } = await memoryApp({ edgeTlsPort }, () => ({ tlsProbe }));
  world.clock.set(new Date());
  await call("POST", "/api/projects", { token: owner, body: { name: "Harbour" } });
  const { status, body } = await call("POST", "/api/deployments/ssl/status", { token: owner, body: { domain: HOST } });
  expect([status, body.success, body.domain]).toEqual([200, true, HOST]);
  return body;
}

describe("POST /api/deployments/ssl/status with real servers", () => {
  test.each([
    ["in order", { ...IN_DATE, chain: "complete" }, { status: "valid", chainValid: true, reason: null }],
    ["expiring", { ...IN_DATE, to: 9.5, chain: "complete" }, { status: "expiring", chainValid: true, daysLeft: 9 }],
    ["expired", { ...IN_DATE, to: -2.5, chain: "complete" }, { status: "expired", chainValid: true, daysLeft: -3 }],
    [
      "for another name",
      { ...IN_DATE, names: ["x.test"], chain: "complete" },
      { status: "mismatch", chainValid: true },
    ],
    ["self-signed", { ...IN_DATE, chain: "self_signed" }, { status: "mismatch", chainValid: false, issuer: HOST }],
    ["without its chain", { ...IN_DATE, chain: "incomplete" }, { status: "mismatch", chainValid: false }],
  ] as const)("describes a certificate %s", async (_, server, shown) => {
    expect(await statusOf(server)).toMatchObject({ subject: HOST, names: server.names, ...shown });
  });

  test.each([
    ["plain_http", "none"],
    ["outdated", "none"],
    ["closing", "none"],
    ["silent", "unreachable"],
    ["trickling", "unreachable"],
    ["absent", "unreachable"],
  ] as const)("of a server that is %s is %s", async (server, status) => {
    const body = await statusOf(server);
    expect(body).toMatchObject({ status, names: [], issuer: null, notAfter: null, chainValid: null });
    expect(body.reason).toContain("127.0.0.1 port ");
  });
});
