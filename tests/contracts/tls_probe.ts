import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ChainFault, Handshake } from "../../domain/certificates/handshake.ts";
import type { TlsProbe } from "../../ports/domains/tls_probe.ts";

/** A certificate that a server presents: issued by "Test Authority", unless the server has signed it itself. */
export interface PresentedOnStage {
  readonly subject?: string;
  readonly names: readonly string[];
  /** Days from now. */
  readonly from: number;
  readonly to: number;
  readonly chain: "complete" | Exclude<ChainFault, "broken">;
}

/** What a server does instead of presenting a certificate. `by_name`: it has one for each name that ends with `.test`. */
export type ServerBehaviour =
  | "absent"
  | "silent"
  | "trickling"
  | "plain_http"
  | "greeting"
  | "closing"
  | "closing_after_hello"
  | "resetting"
  | "declining"
  | "outdated"
  | "outdated_hello"
  | "by_name";

/** A probe, and servers for it to shake hands with. The probe gives up after two seconds. */
export interface TlsStage extends AsyncDisposable {
  readonly probe: TlsProbe;
  /** Starts a server at 127.0.0.1; resolves to its port. */
  readonly serve: (server: PresentedOnStage | ServerBehaviour) => Promise<number>;
}

const HOST = "www.example.test";
const DAY_MS = 86_400_000;
const IN_DATE = { subject: HOST, names: [HOST, "*.shop.example.test"], from: -30, to: 60 };

/** Contract tests for `TlsProbe` adapters. */
export function tlsProbeContract(name: string, open: () => Promise<TlsStage>) {
  let stage: TlsStage;
  const ask = async (server: PresentedOnStage | ServerBehaviour, hostname = HOST, signal?: AbortSignal) => {
    const port = await stage.serve(server);
    return stage.probe.shakeHands(hostname, { address: "127.0.0.1", port, ...(signal && { signal }) });
  };

  describe(`TlsProbe contract: ${name}`, () => {
    beforeAll(async () => {
      stage = await open();
    });
    afterAll(() => stage?.[Symbol.asyncDispose]());

    test("shakeHands() reads the certificate", async () => {
      const shown = presented(await ask({ ...IN_DATE, chain: "complete" }));
      expect(shown.certificate).toMatchObject({ issuer: "Test Authority", subject: HOST, names: IN_DATE.names });
      expect(shown.certificate.fingerprint256).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
      const { notBefore, notAfter } = shown.certificate;
      expect(Math.round((notBefore.getTime() - Date.now()) / DAY_MS)).toBe(IN_DATE.from);
      expect(Math.round((notAfter.getTime() - Date.now()) / DAY_MS)).toBe(IN_DATE.to);
      expect(shown.chainFault).toBeNull();
    });

    test.each([
      ["in order", { ...IN_DATE, chain: "complete" }, null],
      ["for another name", { ...IN_DATE, names: ["other.test"], chain: "complete" }, null],
      ["without names", { ...IN_DATE, names: [], chain: "complete" }, null],
      ["expired", { ...IN_DATE, to: -2, chain: "complete" }, null],
      ["not valid yet", { ...IN_DATE, from: 2, chain: "complete" }, null],
      ["expired and for another name", { ...IN_DATE, names: ["other.test"], to: -2, chain: "complete" }, null],
      ["self-signed", { ...IN_DATE, chain: "self_signed" }, "self_signed"],
      ["self-signed and expired", { ...IN_DATE, to: -2, chain: "self_signed" }, "self_signed"],
      ["without its chain", { ...IN_DATE, chain: "incomplete" }, "incomplete"],
      ["without its chain and expired", { ...IN_DATE, to: -2, chain: "incomplete" }, "incomplete"],
      ["of a private authority", { ...IN_DATE, chain: "unknown_authority" }, "unknown_authority"],
      ["of a private authority and expired", { ...IN_DATE, to: -2, chain: "unknown_authority" }, "unknown_authority"],
      ["of an expired authority", { ...IN_DATE, chain: "authority_expired" }, "authority_expired"],
    ] as const)("shakeHands() tells the chain of a certificate %s apart from its names and dates", async (...given) => {
      const [, server, fault] = given;
      const shown = presented(await ask(server));
      expect(shown.certificate.names).toEqual(server.names);
      expect(shown.chainFault).toBe(fault);
    });

    test("shakeHands() without a common name has an empty subject", async () => {
      const { certificate } = presented(await ask({ names: [HOST], from: -1, to: 1, chain: "complete" }));
      expect(certificate.subject).toBe("");
    });

    test.each([
      ["a.test, DNS:www.example.test"],
      ["www.example.test\0.evil.test"],
      ['www.example.test"'],
      ["www.example.test\n"],
      ["ü.test"],
    ])("shakeHands() reads no host name from %j", async (odd) => {
      const shown = presented(await ask({ ...IN_DATE, names: [odd, "Fine.test"], chain: "complete" }));
      expect(shown.certificate.names).toEqual(["fine.test"]);
    });

    test("shakeHands() sends the name of the server", async () => {
      const { certificate } = presented(await ask("by_name", "second.test"));
      expect(certificate.names).toEqual(["second.test"]);
    });

    test.each([
      ["absent", { kind: "unreachable", cause: "refused" }],
      ["silent", { kind: "unreachable", cause: "no_answer" }],
      ["trickling", { kind: "unreachable", cause: "no_answer" }],
      ["plain_http", { kind: "none", cause: "no_tls" }],
      ["greeting", { kind: "none", cause: "no_tls" }],
      ["closing", { kind: "none", cause: "closed" }],
      ["closing_after_hello", { kind: "none", cause: "closed" }],
      ["resetting", { kind: "none", cause: "closed" }],
      ["declining", { kind: "none", cause: "declined" }],
      ["outdated", { kind: "none", cause: "outdated_tls" }],
      ["outdated_hello", { kind: "none", cause: "outdated_tls" }],
    ] as const)("shakeHands() with a server that is %s returns %j", async (server, handshake) => {
      const begun = performance.now();
      expect(await ask(server)).toEqual(handshake);
      expect(performance.now() - begun).toBeLessThan(10_000);
    });

    test("shakeHands() ends when its signal aborts", async () => {
      const none = { kind: "unreachable", cause: "no_answer" } as const;
      expect(await ask({ ...IN_DATE, chain: "complete" }, HOST, AbortSignal.abort())).toEqual(none);
      const begun = performance.now();
      expect(await ask("silent", HOST, AbortSignal.timeout(50))).toEqual(none);
      expect(performance.now() - begun).toBeLessThan(1_500);
    });
  });
}

function presented(handshake: Handshake) {
  if (handshake.kind !== "presented") throw new Error(`No certificate was presented: ${JSON.stringify(handshake)}`);
  return handshake;
}
