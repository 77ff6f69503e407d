import { describe, expect, test } from "bun:test";
import { AcmeAuthority } from "../../../adapters/acme/acme_authority.ts";
import { MemoryAuthorityAccounts } from "../../../adapters/memory/authority_accounts.ts";
import { MemoryTables } from "../../../adapters/memory/memory_tables.ts";
import { selfSignedCertificate } from "../../support/inputs/self_signed_certificate.ts";

const PROBLEM = "urn:ietf:params:acme:error:";
const options = { signal: new AbortController().signal };

/** An authority of which one address answers as told, and all others as they should. */
function faulty(path: string, respond: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request): Response | Promise<Response> {
      const { origin, pathname } = new URL(request.url);
      if (pathname === path) return respond(request);
      const headers = { "replay-nonce": crypto.randomUUID(), location: `${origin}/account/1` };
      if (pathname === "/nonce") return new Response(null, { headers });
      if (pathname === "/account") return Response.json({ status: "valid" }, { status: 201, headers });
      const urls = { newNonce: `${origin}/nonce`, newAccount: `${origin}/account`, newOrder: `${origin}/order` };
      return Response.json(urls);
    },
  });
  const authority = new AcmeAuthority({
    directoryUrl: `http://127.0.0.1:${server.port}/directory`,
    accounts: new MemoryAuthorityAccounts(new MemoryTables()),
    requestMs: 200,
  });
  return { authority, [Symbol.dispose]: () => void server.stop(true) };
}

function problem(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers: { "replay-nonce": crypto.randomUUID(), ...headers } });
}

describe("AcmeAuthority", () => {
  test("refusals have the authority's own words, on one line", async () => {
    const body = {
      type: `${PROBLEM}rejectedIdentifier`,
      detail: "Cannot issue for\n this name",
      subproblems: [{ detail: "It is on a list" }],
    };
    using stage = faulty("/order", () => problem(403, body));
    await expect(stage.authority.order("www.example.org", options)).rejects.toMatchObject({
      kind: "remote_failed",
      code: "authority_refused",
      message: "The certificate authority refused: Cannot issue for this name; It is on a list",
    });
  });

  test("a limit says when to try again, as seconds or as a date", async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    for (const retryAfter of ["3600", inAnHour]) {
      const body = { type: `${PROBLEM}rateLimited`, detail: "Too many orders" };
      using stage = faulty("/order", () => problem(429, body, { "retry-after": retryAfter }));
      const failure = await stage.authority.order("www.example.org", options).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "authority_limited", message: expect.stringContaining("Too many orders") });
      const seconds = (failure as { retryAfter: number }).retryAfter;
      expect(seconds).toBeGreaterThan(3_500);
      expect(seconds).toBeLessThanOrEqual(3_600);
    }
  });

  test.each([
    ["/order", "too many new orders (300) from this account in the last 3h0m0s", "authority_limited"],
    ["/account", "too many new registrations (10) from this IP address in the last 3h0m0s", "authority_limited"],
    ["/order", 'too many certificates (50) already issued for "example.org" in the last 168h0m0s', "authority_refused"],
    ["/order", 'too many failed authorizations (5) for "www.example.org" in the last 1h0m0s', "authority_refused"],
    ["/order", "too many certificates (5) already issued for this exact set of identifiers", "authority_refused"],
  ])("a limit at %s with the words %s is %s", async (path, words, code) => {
    const detail = `${words}, retry after 2026-11-17 12:00:00 UTC: see https://letsencrypt.org/docs/rate-limits/`;
    const body = { type: `${PROBLEM}rateLimited`, detail };
    using stage = faulty(path, () => problem(429, body, { "retry-after": "60" }));
    const ordering = stage.authority.order("www.example.org", options);
    await expect(ordering).rejects.toMatchObject({ kind: "remote_failed", code, retryAfter: 60 });
  });

  test.each([
    ["is out of order", () => problem(503, { detail: "Maintenance" }, { "retry-after": "60" }), "503: Maintenance", 60],
    ["redirects", () => Response.redirect("https://example.org/", 302), "redirect", undefined],
    ["answers with nonsense", () => problem(201, "hello", { location: "http://x/1" }), "something else", undefined],
    ["hangs", () => new Promise<Response>(() => {}), "did not answer within 0.2 s", undefined],
  ])("an authority that %s is unreachable", async (_, respond, words, retryAfter) => {
    using stage = faulty("/order", respond);
    const failure = await stage.authority.order("www.example.org", options).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "remote_failed", code: "authority_unreachable" });
    expect((failure as Error).message).toContain(words);
    expect((failure as { retryAfter?: number }).retryAfter).toBe(retryAfter!);
  });

  test.each(["/directory", "/nonce", "/account"])("an authority that breaks at %s is unreachable", async (path) => {
    using stage = faulty(path, () => new Response("<html>", { status: path === "/nonce" ? 404 : 500 }));
    const ordering = stage.authority.order("www.example.org", options);
    await expect(ordering).rejects.toMatchObject({ code: "authority_unreachable" });
  });

  test("an authority that rejects every nonce is given up after a few tries", async () => {
    let tries = 0;
    using stage = faulty("/order", () => {
      tries++;
      return problem(400, { type: `${PROBLEM}badNonce`, detail: "Bad nonce" });
    });
    const ordering = stage.authority.order("www.example.org", options);
    await expect(ordering).rejects.toMatchObject({ code: "authority_refused" });
    expect(tries).toBeGreaterThan(5);
    expect(tries).toBeLessThan(20);
  });

  test("an account that the authority has forgotten is registered anew with the next request", async () => {
    let tries = 0;
    using stage = faulty("/order", () =>
      tries++ === 0
        ? problem(400, { type: `${PROBLEM}accountDoesNotExist`, detail: "No such account" })
        : problem(403, { detail: "Known" }),
    );
    await expect(stage.authority.order("a.example.org", options)).rejects.toThrow("No such account");
    await expect(stage.authority.order("a.example.org", options)).rejects.toThrow("Known");
  });

  test("an authority that is not trusted is not used, and the failure says what to set", async () => {
    const tls = selfSignedCertificate("localhost");
    using server = Bun.serve({ hostname: "127.0.0.1", port: 0, tls, fetch: () => new Response("{}") });
    const authority = new AcmeAuthority({
      directoryUrl: `https://localhost:${server.port}/directory`,
      accounts: new MemoryAuthorityAccounts(new MemoryTables()),
    });
    const ordering = authority.order("www.example.org", options);
    await expect(ordering).rejects.toThrow("Set ACME_CA_FILE");
  });
});
