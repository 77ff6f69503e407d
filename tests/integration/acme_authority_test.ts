import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { newCertificateKey } from "../../domain/certificates/new_certificate_key.ts";
import { certificateAuthorityContract } from "../contracts/certificate_authority.ts";
import { pebbleStage } from "../support/peers/pebble_stage.ts";

certificateAuthorityContract("pebble", () => pebbleStage());
certificateAuthorityContract("pebble that rejects a third of all nonces", () => pebbleStage({ rejectedNonces: 33 }));

const options = { signal: AbortSignal.timeout(100_000) };

describe("AcmeAuthority", () => {
  test("all processes of an installation use one account, also if they start at once", async () => {
    await using stage = await pebbleStage();
    const processes = Array.from({ length: 3 }, () => stage.process());
    const hostnames = processes.map((_, index) => `www-${index}.example.org`);
    const orders = await Promise.all(processes.map((each, index) => each.order(hostnames[index]!, options)));
    const thumbprints = orders.map(({ proof }) => proof!.text.split(".")[1]);
    expect(new Set(thumbprints).size).toBe(1);
    // Another process completes an order.
    const [first] = orders;
    stage.served.set(`${hostnames[0]}/${first!.proof!.token}`, first!.proof!.text);
    const resumed = await processes[1]!.resume(first!.url, options);
    const request = { order: resumed!, hostname: hostnames[0]!, key: await newCertificateKey() };
    const { chain } = await processes[2]!.issue(request, options);
    const certificate = new X509Certificate(chain);
    expect(certificate.subjectAltName).toBe("DNS:www-0.example.org");
    expect(await stage.pebble.counts()).toEqual({ orders: 3, certificates: 1 });
  });

  test("an order is aborted while the authority looks for the proof, and completed later with one certificate", async () => {
    await using stage = await pebbleStage({ isSlow: true });
    const hostname = "www.example.org";
    const order = await stage.authority.order(hostname, options);
    stage.served.set(`${hostname}/${order.proof!.token}`, order.proof!.text);
    const key = await newCertificateKey();
    const stopping = AbortSignal.timeout(1_000);
    const startedAt = performance.now();
    const issuing = stage.authority.issue({ order, hostname, key }, { signal: stopping });
    await expect(issuing).rejects.toThrow("timed out");
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    const resumed = await stage.process().resume(order.url, options);
    const certificate = await stage.process().issue({ order: resumed!, hostname, key }, options);
    expect(certificate.hostname).toBe(hostname);
    expect(await stage.pebble.counts()).toEqual({ orders: 1, certificates: 1 });
  });
});
