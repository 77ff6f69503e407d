import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { EdgeServer } from "../../adapters/edge/edge_server.ts";
import { addressUnusable } from "../../adapters/shared/address_unusable.ts";
import { selfSigned } from "../../adapters/shared/self_signed.ts";
import { MemoryLog } from "../../adapters/memory/log.ts";
import { Secret } from "../../domain/secret.ts";
import { eventually } from "../support/eventually.ts";
import { memoryGrowth } from "../support/memory_growth.ts";
import { rawConnection, rawTlsConnection } from "../support/servers/raw_http.ts";
import { type RunningEdge, runningTlsEdge } from "../support/servers/running_edge.ts";
import { testCertificate } from "../support/servers/test_certificate.ts";

const GET = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
const SWAPS = 40;

let edge: RunningEdge;
let tlsPort: number;
beforeEach(async () => {
  edge = await runningTlsEdge();
  ({ tlsPort } = edge.edge);
});
afterEach(() => edge[Symbol.asyncDispose]());

/** The common name and the fingerprint of the certificate that a visitor gets. */
async function presentedTo(serverName: string) {
  using client = await rawTlsConnection(tlsPort, serverName);
  return { subject: client.subject, fingerprint: client.fingerprint };
}

describe("EdgeServer presents", () => {
  test("the certificate of the server name, in any case", async () => {
    const [a, b] = [testCertificate("a.test"), testCertificate("b.test")];
    await edge.edge.present("A.test", a);
    await edge.edge.present("b.test", b);
    for (const name of ["a.test", "A.TEST"]) expect((await presentedTo(name)).fingerprint).toBe(a.fingerprint);
    expect((await presentedTo("b.test")).fingerprint).toBe(b.fingerprint);
  });

  test("a certificate that nobody trusts to hosts without one, and to clients that name none", async () => {
    await edge.edge.present("a.test", testCertificate("a.test"));
    for (const name of ["", "b.test", "a.a.test", "test"])
      expect((await presentedTo(name)).subject).toBe("slipway.invalid");
    await edge.edge.present("a.test", null);
    expect((await presentedTo("a.test")).subject).toBe("slipway.invalid");
    expect(
      (await fetch(`https://127.0.0.1:${tlsPort}/`).catch((error: { code: string }) => error)) as object,
    ).toMatchObject({ code: expect.stringMatching(/SELF_SIGNED|CERT/) });
  });

  test("a renewed certificate at once, without a failed handshake or a closed connection", async () => {
    await edge.put("a.test", { kind: "text", text: "still here" });
    await edge.edge.present("a.test", testCertificate("a.test"));
    using open = await rawTlsConnection(tlsPort, "a.test");
    const over = new AbortController();
    let handshakes = 0;
    const visits = Array.from({ length: 4 }, async () => {
      for (; !over.signal.aborted; handshakes++) {
        using client = await rawTlsConnection(tlsPort, "a.test", { first: GET });
        await client.until(/still here$/);
      }
    });
    for (let swap = 0; swap < SWAPS; swap++) {
      const next = testCertificate("a.test");
      await edge.edge.present("a.test", next);
      expect((await presentedTo("a.test")).fingerprint).toBe(next.fingerprint);
    }
    over.abort();
    await Promise.all(visits);
    expect(handshakes).toBeGreaterThan(SWAPS);
    open.write(GET);
    await open.until(/still here$/);
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)("over %s", async (version) => {
    using client = await rawTlsConnection(tlsPort, "a.test", { minVersion: version, maxVersion: version });
    expect(client.socket.getProtocol()).toBe(version);
  });

  test("nothing over older versions", async () => {
    const old = rawTlsConnection(tlsPort, "a.test", { minVersion: "TLSv1", maxVersion: "TLSv1.1" });
    // The alert "protocol_version", from the server.
    await expect(old).rejects.toThrow(/ALERT_PROTOCOL_VERSION/);
  });

  test("no other protocol than HTTP/1.1", async () => {
    using client = await rawTlsConnection(tlsPort, "a.test", { ALPNProtocols: ["h2", "http/1.1"] });
    expect(client.socket.alpnProtocol).toBe("http/1.1");
  });

  test("the former certificate when the next one is unusable, and does not repeat a key", async () => {
    const [good, other] = [testCertificate("a.test"), testCertificate("a.test")];
    await edge.edge.present("a.test", good);
    const swordfish = new Secret(other.key.reveal().replace("MIGH", "swordfish"));
    for (const bad of [
      { ...good, key: other.key },
      { ...good, key: swordfish },
      { ...good, chain: "" },
      { ...good, chain: other.chain.replace(/\n.{30}/, "\nswordfish") },
      { ...good, chain: good.chain + other.chain.replace(/\n.{30}/, "\nswordfish") },
    ]) {
      const failure = await edge.edge.present("a.test", bad).catch((error: Error) => error);
      expect(failure).toMatchObject({ kind: "invalid", code: "certificate_unusable" });
      expect(Bun.inspect(failure)).not.toMatch(/swordfish|BEGIN/);
      expect((await presentedTo("a.test")).fingerprint).toBe(good.fingerprint);
    }
  });
});

describe("EdgeServer on its TLS port", () => {
  test("gives up on handshakes that do not complete, which cost little meanwhile", async () => {
    await using hasty = await runningTlsEdge({ limits: { headMs: 2_000 } });
    const port = hasty.edge.tlsPort;
    const grown = await memoryGrowth(async () => {
      // The beginning of a record of a ClientHello.
      const begun = Buffer.from("1603010200010001fc0303", "hex");
      const clients = await Promise.all(Array.from({ length: 300 }, () => rawConnection(port, begun)));
      for (const client of clients) expect(await client.closed).toBe("");
    });
    expect(grown).toBeLessThan(100_000_000);
    using client = await rawTlsConnection(port, "a.test", { first: "GET / HTTP/1.1\r\nHost: none.test\r\n\r\n" });
    expect(await client.until(/\r\n\r\n/)).toStartWith("HTTP/1.1 404 ");
  });

  test("gives up on a client that sends nothing after its handshake", async () => {
    await using hasty = await runningTlsEdge({ limits: { headMs: 1_000 } });
    using client = await rawTlsConnection(hasty.edge.tlsPort, "a.test");
    expect(await client.closed).toBe("");
  });

  test.each([
    ["a plain request", GET],
    ["garbage", "\0\xff".repeat(5_000)],
    ["a broken record", "\x16\x03\x01\xff\xff"],
  ])("closes a connection with %s, and serves on", async (_, bytes) => {
    await using hasty = await runningTlsEdge({ limits: { headMs: 1_000 } });
    using client = await rawConnection(hasty.edge.tlsPort, bytes);
    expect(await client.closed).not.toContain("HTTP/1.1 ");
    using next = await rawTlsConnection(hasty.edge.tlsPort, "a.test", { first: GET });
    await next.until(/no_such_app/);
  });

  test("answers what is no HTTP as on its plain port", async () => {
    using client = await rawTlsConnection(tlsPort, "a.test", { first: "\x01\x02\r\n\r\n" });
    expect(await client.until(/\r\n\r\n/)).toStartWith("HTTP/1.1 400 ");
  });

  test("stops after running requests have ended, and drops idle connections and handshakes", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    await using app = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => promise });
    await edge.put("a.test", { kind: "address", host: "127.0.0.1", port: app.port! });
    using idle = await rawTlsConnection(tlsPort, "a.test");
    using handshake = await rawConnection(tlsPort);
    using running = await rawTlsConnection(tlsPort, "a.test", { first: GET });
    await eventually(
      async () => app.pendingRequests,
      (count) => count > 0,
    );
    const stopping = edge.edge.stop(60_000);
    expect(await idle.closed).toBe("");
    expect(await handshake.closed).toBe("");
    await expect(rawTlsConnection(tlsPort, "a.test")).rejects.toThrow();
    resolve(new Response("done"));
    expect(await running.closed).toMatch(/Connection: close\r\n\r\ndone$/);
    await stopping;
  });

  test("stops at the end of its grace period, even with running requests", async () => {
    await using app = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Promise<Response>(() => {}) });
    await edge.put("a.test", { kind: "address", host: "127.0.0.1", port: app.port! });
    using running = await rawTlsConnection(tlsPort, "a.test", { first: GET });
    await eventually(
      async () => app.pendingRequests,
      (count) => count > 0,
    );
    await edge.edge.stop(10);
    expect(await running.closed).toBe("");
  });
});

describe("EdgeServer.listen() with a TLS port", () => {
  test("that another program uses serves plain HTTP, warns once, and takes the port once it is free", async () => {
    const log = new MemoryLog();
    await using late = new EdgeServer({ log, tlsRetryMs: 50 });
    await late.listen({ host: "127.0.0.1", port: 0, tlsPort });
    expect([late.port > 0, late.tlsPort]).toEqual([true, 0]);
    const { message: why } = addressUnusable(
      { host: "127.0.0.1", port: tlsPort, setting: "EDGE_TLS_PORT" },
      { code: "EADDRINUSE" },
    );
    await Bun.sleep(200);
    const warning = { message: "Apps are served without TLS until its port is free", reason: why };
    expect(log.lines).toEqual([{ level: "warn", text: JSON.stringify(warning) }]);
    await edge.edge.stop(0);
    await eventually(
      async () => late.tlsPort,
      (port) => port === tlsPort,
    );
    using client = await rawTlsConnection(tlsPort, "a.test", { first: GET });
    await client.until(/starting/);
  });
});

describe("selfSigned()", () => {
  test.each(["a.test", `${"long-label.".repeat(20)}test`])("makes a certificate for %s that verifies", (name) => {
    const certificate = new X509Certificate(selfSigned(name).cert);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkHost(name)).toBe(name);
    expect(certificate.checkHost("b.test")).toBeUndefined();
    const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    expect(from).toBeLessThan(Date.now());
    expect(to - Date.now()).toBeGreaterThan(300 * 24 * 3_600_000);
  });
});
