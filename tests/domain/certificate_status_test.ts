import { describe, expect, test } from "bun:test";
import { assert, constantFrom, double, property } from "fast-check";
import { certificateIsFor } from "../../domain/certificates/certificate_names.ts";
import { certificateStatus, worstStatus } from "../../domain/certificates/certificate_status.ts";
import type { ChainFault, Handshake, PresentedCertificate } from "../../domain/certificates/handshake.ts";

const NOW = new Date("2026-06-15T12:00:00.000Z");
const HOST = "www.example.com";
const PLACE = "203.0.113.7 port 443";

const inDays = (days: number) => new Date(NOW.getTime() + days * 86_400_000);

function presented(changes: Partial<PresentedCertificate>, chainFault: ChainFault | null = null): Handshake {
  const certificate = {
    issuer: "R11",
    subject: HOST,
    names: [HOST],
    notBefore: inDays(-30),
    notAfter: inDays(60),
    fingerprint256: "AA:BB",
    ...changes,
  };
  return { kind: "presented", certificate, chainFault };
}

const judge = (handshake: Handshake, now = NOW) => certificateStatus(handshake, { hostname: HOST, place: PLACE, now });

const OTHER = { names: ["other.example.com"] };
const OVER = { notAfter: inDays(-2) };

describe("certificateStatus()", () => {
  test.each([
    ["in order", presented({}), "valid", null],
    ["with a wildcard", presented({ names: ["*.example.com"] }), "valid", null],
    ["with 14 days left of 90", presented({ notBefore: inDays(-76), notAfter: inDays(14) }), "valid", null],
    ["with less than 14 days left", presented({ notAfter: inDays(13.9) }), "expiring", "expires on 2026-06-29"],
    ["of six days, new", presented({ notBefore: inDays(0), notAfter: inDays(6) }), "valid", null],
    ["of six days, with two left", presented({ notBefore: inDays(-4), notAfter: inDays(2) }), "valid", null],
    ["of six days, with less left", presented({ notBefore: inDays(-4.1), notAfter: inDays(1.9) }), "expiring", "Renew"],
    ["that ends now", presented({ notAfter: NOW }), "expiring", "expires on 2026-06-15"],
    ["expired", presented(OVER), "expired", "expired on 2026-06-13"],
    ["not valid yet", presented({ notBefore: inDays(1) }), "mismatch", "not valid before 2026-06-16T12:00:00.000Z"],
    ["for another name", presented(OTHER), "mismatch", `at ${PLACE} is for other.example.com. Check`],
    ["without names", presented({ names: [] }), "mismatch", "names no host at all"],
    ["self-signed", presented({}, "self_signed"), "mismatch", "signed the certificate itself"],
    ["without its chain", presented({}, "incomplete"), "mismatch", "the full chain"],
    ["of a private authority", presented({}, "unknown_authority"), "mismatch", "do not know the authority"],
    ["of an expired authority", presented({}, "authority_expired"), "mismatch", "is out of date"],
    ["with a broken chain", presented({}, "broken"), "mismatch", "do not accept the chain"],
    ["expiring and untrusted", presented({ notAfter: inDays(3) }, "self_signed"), "mismatch", "itself"],
    ["expired and untrusted", presented(OVER, "self_signed"), "expired", "itself"],
    ["expired and for another name", presented({ ...OTHER, ...OVER }), "mismatch", "expired on 2026-06-13"],
  ] as const)("a certificate %s", (_, handshake, status, reason) => {
    const judged = judge(handshake);
    expect(judged.status).toBe(status);
    if (reason === null) expect(judged.reason).toBeNull();
    else expect(judged.reason).toContain(reason);
  });

  test.each([
    [59.99, 59],
    [1, 1],
    [0.5, 0],
    [0, 0],
    [-0.1, -1],
    [-2, -2],
  ])("with %p days left shows %p full days", (left, shown) => {
    expect(judge(presented({ notAfter: inDays(left) })).daysLeft).toBe(shown);
  });

  test("tells the chain apart from names and dates", () => {
    expect(judge(presented({ ...OTHER, ...OVER })).chainValid).toBe(true);
    expect(judge(presented({}, "self_signed")).chainValid).toBe(false);
  });

  test("names every fault, and only the first names of many", () => {
    const names = Array.from({ length: 100 }, (_, index) => `n${index}.example.com`);
    const { reason } = judge(presented({ names, ...OVER }, "unknown_authority"));
    expect(reason).toContain("n4.example.com and 95 more. ");
    expect(reason).not.toContain("n5.");
    expect(reason).toContain("expired on");
    expect(reason).toContain("do not know the authority");
  });

  test.each([
    [{ kind: "none", cause: "no_tls" }, "does not speak TLS properly"],
    [{ kind: "none", cause: "outdated_tls" }, "Enable TLS 1.2"],
    [{ kind: "none", cause: "declined" }, "refuses TLS connections"],
    [{ kind: "none", cause: "closed" }, "closes the connection"],
    [{ kind: "unreachable", cause: "name_missing" }, "Publish an A or AAAA record"],
    [{ kind: "unreachable", cause: "lookup_failed" }, "No name server"],
    [{ kind: "unreachable", cause: "refused" }, `Nothing listens at ${PLACE}`],
    [{ kind: "unreachable", cause: "no_route" }, "no way to"],
    [{ kind: "unreachable", cause: "no_answer" }, "does not answer in time"],
  ] as const)("of %j has no certificate and says what to do", (handshake, reason) => {
    const judged = judge(handshake);
    expect(judged).toMatchObject({ status: handshake.kind, certificate: null, daysLeft: null, chainValid: null });
    expect(judged.reason).toContain(reason);
  });

  test("never accepts what a browser refuses, and has a reason for all but valid", () => {
    const faults = constantFrom<ChainFault | null>(null, "self_signed", "incomplete", "broken");
    const names = constantFrom([HOST], ["*.example.com"], ["*.com"], ["example.com"], []);
    const days = double({ min: -400, max: 400, noNaN: true });
    assert(
      property(faults, names, days, days, (fault, given, from, to) => {
        const judged = judge(presented({ names: given, notBefore: inDays(from), notAfter: inDays(to) }, fault));
        const isRight = fault === null && certificateIsFor(given, HOST) && inDays(from) <= NOW && inDays(to) >= NOW;
        expect(["valid", "expiring"].includes(judged.status)).toBe(isRight);
        expect(judged.reason === null).toBe(judged.status === "valid");
      }),
    );
  });
});

describe("worstStatus()", () => {
  test.each([
    [["valid", "expired"], "expired"],
    [["valid", "none"], "none"],
    [["unreachable", "valid"], "valid"],
    [["unreachable", "none"], "none"],
    [["expired", "mismatch"], "mismatch"],
    [["valid", "expiring", "valid"], "expiring"],
  ] as const)("of %j is %s", (statuses, worst) => {
    const each = statuses.map((status) => ({ ...judge(presented({})), status }));
    expect(worstStatus(each)?.status).toBe(worst);
  });

  test("of nothing is nothing", () => {
    expect(worstStatus([])).toBeUndefined();
  });
});

describe("certificateIsFor()", () => {
  test.each([
    ["example.com", "example.com", true],
    ["Example.COM", "example.com", true],
    ["*.example.com", "www.example.com", true],
    ["*.example.com", "example.com", false],
    ["*.example.com", "a.www.example.com", false],
    ["*.www.example.com", "a.www.example.com", true],
    ["w*.example.com", "www.example.com", false],
    ["*", "example.com", false],
    ["*.com", "example.com", false],
    ["*.localhost", "shop.localhost", false],
    ["*.*.com", "www.example.com", false],
    ["xn--bcher-kva.example", "xn--bcher-kva.example", true],
    ["*.xn--bcher-kva.example", "www.xn--bcher-kva.example", true],
    ["", "example.com", false],
    [".example.com", "www.example.com", false],
  ])("%p for %p: %p", (name, hostname, matches) => {
    expect(certificateIsFor([name], hostname)).toBe(matches);
  });
});
