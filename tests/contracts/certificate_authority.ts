import { describe, expect, test } from "bun:test";
import { newCertificateKey } from "../../domain/certificates/new_certificate_key.ts";
import type { AcceptedOrder, CertificateAuthority } from "../../ports/domains/certificate_authority.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { uniqueLabel } from "../support/database/store_builders.ts";

/** An authority that looks for proofs in a place of the test. */
export interface AuthorityStage extends Partial<AsyncDisposable> {
  readonly authority: CertificateAuthority;
  /** The proofs that are served: texts by host name and token, with a slash between them. */
  readonly served: Map<string, string>;
}

const REFUSED = { name: "Failure", kind: "remote_failed", code: "authority_refused" };

/** Contract tests for `CertificateAuthority` adapters. */
export function certificateAuthorityContract(name: string, open: () => Promise<AuthorityStage>) {
  describe(`CertificateAuthority contract: ${name}`, () => {
    const stage = sharedWorld(open);
    const options = { signal: new AbortController().signal };

    function serve(hostname: string, { proof }: AcceptedOrder): void {
      if (proof) stage().served.set(`${hostname}/${proof.token}`, proof.text);
    }

    /** An order of a new name, whose proof is served. */
    async function ordered() {
      const hostname = `www-${uniqueLabel()}.example.org`;
      const order = await stage().authority.order(hostname, options);
      serve(hostname, order);
      return { hostname, order, key: await newCertificateKey() };
    }

    test("issue() returns a certificate for the name and the key", async () => {
      const request = await ordered();
      const { token, text } = request.order.proof!;
      expect(token).toMatch(/^[\w-]+$/);
      expect(text).toStartWith(`${token}.`);
      const certificate = await stage().authority.issue(request, options);
      expect(certificate).toMatchObject({ hostname: request.hostname, key: request.key });
      expect(certificate.issuer).not.toBe("");
      expect(certificate.chain).not.toBe("");
      expect(certificate.fingerprint256).toMatch(/^[0-9A-F]{2}(:[0-9A-F]+)+$/);
      expect(certificate.notAfter.getTime()).toBeGreaterThan(certificate.notBefore.getTime());
    });

    test("issue() of an order that was issued returns the same certificate, for its own key only", async () => {
      const request = await ordered();
      const first = await stage().authority.issue(request, options);
      const again = await stage().authority.issue(request, options);
      expect(again.fingerprint256).toBe(first.fingerprint256);
      const other = { ...request, key: await newCertificateKey() };
      await expect(stage().authority.issue(other, options)).rejects.toMatchObject(REFUSED);
    });

    test("resume() returns a pending order with the same proof", async () => {
      const { order, ...request } = await ordered();
      const resumed = await stage().authority.resume(order.url, options);
      expect(resumed).toEqual(order);
      const certificate = await stage().authority.issue({ ...request, order: resumed! }, options);
      expect(certificate.hostname).toBe(request.hostname);
    });

    test("resume() returns an issued order, which needs no proof and returns its certificate", async () => {
      const request = await ordered();
      const { fingerprint256 } = await stage().authority.issue(request, options);
      const resumed = await stage().authority.resume(request.order.url, options);
      expect(resumed).toEqual({ url: request.order.url, proof: null });
      const again = await stage().authority.issue({ ...request, order: resumed! }, options);
      expect(again.fingerprint256).toBe(fingerprint256);
    });

    test("a proof that is not served is refused with the authority's words, and the order is over", async () => {
      const request = await ordered();
      stage().served.clear();
      const failure = await stage()
        .authority.issue(request, options)
        .catch((error: unknown) => error);
      expect(failure).toMatchObject(REFUSED);
      expect((failure as Error).message).toStartWith("The certificate authority refused: ");
      expect((failure as Error).message).toContain(request.hostname);
      expect(await stage().authority.resume(request.order.url, options)).toBeUndefined();
      const order = await stage().authority.order(request.hostname, options);
      expect(order.url).not.toBe(request.order.url);
    });

    test("resume() of an unknown order, also at another authority, returns nothing", async () => {
      const { order } = await ordered();
      for (const url of [`${order.url}x`, "https://other.example.com/order/1"])
        expect(await stage().authority.resume(url, options)).toBeUndefined();
    });

    test("orders of several names at once are kept apart", async () => {
      const requests = await Promise.all(Array.from({ length: 4 }, ordered));
      const certificates = await Promise.all(requests.map((request) => stage().authority.issue(request, options)));
      expect(certificates.map(({ hostname }) => hostname)).toEqual(requests.map(({ hostname }) => hostname));
      expect(new Set(certificates.map(({ fingerprint256 }) => fingerprint256)).size).toBe(4);
    });

    test("everything rejects with the reason of an aborted signal", async () => {
      const request = await ordered();
      const { authority } = stage();
      const reason = new Error("Stopping");
      const ended = { signal: AbortSignal.abort(reason) };
      await expect(authority.order(request.hostname, ended)).rejects.toBe(reason);
      await expect(authority.resume(request.order.url, ended)).rejects.toBe(reason);
      await expect(authority.issue(request, ended)).rejects.toBe(reason);
    });
  });
}
