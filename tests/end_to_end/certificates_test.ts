import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { dump, query } from "../support/database/query.ts";
import {
  CERTIFIED_HOSTNAME as HOSTNAME,
  certifiedServer,
  verifiedDomain,
} from "../support/servers/certified_server.ts";
import { presented } from "../support/servers/served_through_renewals.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

describe("certificates", () => {
  test("are ordered when a domain is verified, stored in the vault, and renewed by the route", async () => {
    await using stage = await certifiedServer({ rejectedNonces: 30 });
    const { pebble, slipway, url } = stage;
    await verifiedDomain(stage);
    const first = await stage.next();
    const parsed = new X509Certificate(first.chain);
    expect(parsed.subjectAltName).toBe(`DNS:${HOSTNAME}`);
    expect(parsed.checkPrivateKey(createPrivateKey(first.key.reveal()))).toBe(true);
    expect(await pebble.counts()).toEqual({ orders: 1, certificates: 1 });
    expect(await dump(url)).not.toContain("PRIVATE KEY");
    const body = { domain: HOSTNAME };
    const renewed = await slipway.call("POST", "/api/deployments/ssl/renew", { token: slipway.owner, body });
    expect(renewed.status).toBe(200);
    const second = await stage.next(first);
    expect(renewed.body).toEqual({
      success: true,
      domain: HOSTNAME,
      status: "valid",
      notAfter: second.notAfter.toISOString(),
      issuer: second.issuer,
    });
    expect(await pebble.counts()).toEqual({ orders: 2, certificates: 2 });
    expect(slipway.program.stderr + slipway.program.stdout).not.toContain("PRIVATE KEY");
  });

  test("are issued once, from one order, if the server that orders is killed in the middle of it", async () => {
    await using stage = await certifiedServer({ isSlow: true });
    const { pebble, slipway, url } = stage;
    // The authority asks the first server, which orders nothing; the other one orders.
    await slipway.stop();
    await slipway.start({ ACME_DIRECTORY_URL: "off" });
    const id = await verifiedDomain(stage);
    await using ordering = await SlipwayProcess.start(stage.settings);
    await eventually(
      () => pebble.output(),
      (output) => output.includes("Pulled a task from the Tasks queue"),
    );
    await ordering.kill();
    expect(await stage.certificate()).toBeUndefined();
    await ordering.start();
    await stage.next();
    expect(await pebble.counts()).toEqual({ orders: 1, certificates: 1 });
    const [order] = await query(url, "select url, token, sealed_key, attempts from certificate_orders");
    expect(order).toEqual({ url: null, token: null, sealed_key: null, attempts: 0 });
    const removed = await slipway.call("DELETE", `/api/domains/${id}`, { token: slipway.owner });
    expect(removed.status).toBe(200);
    expect(await query(url, "select 1 from certificates union all select 1 from certificate_orders")).toEqual([]);
  });

  test.each(["inside", "separate"])(
    "are issued once if the only server is killed in the middle of an order, EDGE=%s",
    async (edge) => {
      await using stage = await certifiedServer({ isSlow: true, settings: { EDGE: edge } });
      const { pebble, slipway, url } = stage;
      await verifiedDomain(stage);
      await eventually(
        () => query(url, "select 1 from certificate_orders where url is not null"),
        (rows) => rows.length === 1,
      );
      await slipway.kill();
      expect(await stage.certificate()).toBeUndefined();
      await stage.restart();
      const { fingerprint256 } = await stage.next();
      await presented(slipway.edgeTlsPort, fingerprint256);
      // Without an edge of its own, the authority may have looked for the proof while the server was down, and rejected the
      // first order.
      const orders = edge === "separate" ? 1 : expect.any(Number);
      expect(await pebble.counts()).toEqual({ orders, certificates: 1 });
    },
  );

  test("are kept while the authority is away; the order is tried again later, and the route says why", async () => {
    await using stage = await certifiedServer();
    const { slipway, url } = stage;
    const hostname = "shop.example.org";
    await verifiedDomain(stage, { hostname });
    await eventually(
      () => query(url, "select 1 from certificates"),
      (rows) => rows.length === 1,
    );
    await stage.pebble[Symbol.asyncDispose]();
    const answer = await slipway.call("POST", "/api/deployments/ssl/renew", {
      token: slipway.owner,
      body: { domain: hostname },
    });
    expect(answer.status).toBe(502);
    expect(answer.body.error).toContain("Cannot reach the certificate authority");
    const [order] = await query(url, "select attempts, error, due_at > now() as later from certificate_orders");
    expect(order).toMatchObject({ attempts: 1, later: true, error: answer.body.error });
    expect(await query(url, "select 1 from certificates")).toHaveLength(1);
  });
});
