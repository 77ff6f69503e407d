import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { CryptoVault } from "../../adapters/crypto/vault.ts";
import { postgresWorld } from "../../adapters/postgres/postgres_world.ts";
import type { Certificate } from "../../domain/certificates/certificate.ts";
import { eventually } from "../support/eventually.ts";
import { dump, query } from "../support/database/query.ts";
import { testDatabase } from "../support/database/test_database.ts";
import { Pebble, type PebbleOptions } from "../support/peers/pebble.ts";
import { SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";

const HOSTNAME = "www.example.org";

/** A server, and an authority that looks for proofs at its edge. */
async function certified(options: Omit<PebbleOptions, "httpPort"> = {}) {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase());
  const { data } = opened.use(await temporaryPlace());
  const place = { DATABASE_URL: url, SLIPWAY_DATA: data };
  const slipway = opened.use(await SlipwayProcess.prepare(place));
  const pebble = opened.use(await Pebble.start({ httpPort: slipway.edgePort, ...options }));
  const acme = { ACME_DIRECTORY_URL: pebble.directoryUrl, ACME_CA_FILE: pebble.caFile, ACME_EMAIL: "ada@example.org" };
  await slipway.start(acme);
  const lifetime = opened.move();
  return {
    url,
    data,
    settings: { ...place, ...acme },
    slipway,
    pebble,
    restart: () => slipway.start(acme),
    certificate: () => stored(url, data),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** Claims a domain. The TXT record would be looked up in the Internet, so its verification is entered by hand. */
async function verifiedDomain({ slipway, url }: Awaited<ReturnType<typeof certified>>, hostname = HOSTNAME) {
  const { call, owner: token } = slipway;
  const project = await call("POST", "/api/projects", { token, body: { name: hostname } });
  const projectId = project.body.data.id as string;
  const claimed = await call("POST", "/api/domains", { token, body: { projectId, hostname } });
  const id = claimed.body.data.id as string;
  await query(url, `update domains set verified_at = now() where id = '${id}'`);
  return id;
}

/** The certificate that is stored. */
async function stored(url: string, folder: string): Promise<Certificate | undefined> {
  await using world = await postgresWorld({ url, vault: await CryptoVault.load({ folder }) });
  return world.certificates.find(HOSTNAME);
}

/** Waits for a certificate other than the former one. */
async function next(certificate: () => Promise<Certificate | undefined>, former?: Certificate): Promise<Certificate> {
  const found = await eventually(
    certificate,
    (now) => now !== undefined && now.fingerprint256 !== former?.fingerprint256,
  );
  return found!;
}

describe("certificates", () => {
  test("are ordered when a domain is verified, stored in the vault, and renewed by the route", async () => {
    await using stage = await certified({ rejectedNonces: 30 });
    const { pebble, slipway, url } = stage;
    await verifiedDomain(stage);
    const first = await next(stage.certificate);
    const parsed = new X509Certificate(first.chain);
    expect(parsed.subjectAltName).toBe(`DNS:${HOSTNAME}`);
    expect(parsed.checkPrivateKey(createPrivateKey(first.key.reveal()))).toBe(true);
    expect(await pebble.counts()).toEqual({ orders: 1, certificates: 1 });
    expect(await dump(url)).not.toContain("PRIVATE KEY");
    const body = { domain: HOSTNAME };
    const renewed = await slipway.call("POST", "/api/deployments/ssl/renew", { token: slipway.owner, body });
    expect(renewed.status).toBe(200);
    const second = await next(stage.certificate, first);
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
    await using stage = await certified({ isSlow: true });
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
    await next(stage.certificate);
    expect(await pebble.counts()).toEqual({ orders: 1, certificates: 1 });
    const [order] = await query(url, "select url, token, sealed_key, attempts from certificate_orders");
    expect(order).toEqual({ url: null, token: null, sealed_key: null, attempts: 0 });
    const removed = await slipway.call("DELETE", `/api/domains/${id}`, { token: slipway.owner });
    expect(removed.status).toBe(200);
    expect(await query(url, "select 1 from certificates union all select 1 from certificate_orders")).toEqual([]);
  });

  test("are issued once if the only server is killed in the middle of an order", async () => {
    await using stage = await certified({ isSlow: true });
    const { pebble, slipway, url } = stage;
    await verifiedDomain(stage);
    await eventually(
      () => query(url, "select 1 from certificate_orders where url is not null"),
      (rows) => rows.length === 1,
    );
    await slipway.kill();
    expect(await stage.certificate()).toBeUndefined();
    await stage.restart();
    await next(stage.certificate);
    // The authority may have looked for the proof while the server was down. Then it has rejected the first order.
    expect(await pebble.counts()).toMatchObject({ certificates: 1 });
  });

  test("are kept while the authority is away; the order is tried again later, and the route says why", async () => {
    await using stage = await certified();
    const { slipway, url } = stage;
    const hostname = "shop.example.org";
    await verifiedDomain(stage, hostname);
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
