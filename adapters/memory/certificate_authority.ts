import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Certificate } from "../../domain/certificates/certificate.ts";
import { Failure } from "../../domain/failure.ts";
import type {
  AcceptedOrder,
  AuthorityOptions,
  CertificateAuthority,
  CertificateRequest,
} from "../../ports/domains/certificate_authority.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { selfSigned } from "../shared/self_signed.ts";

/** What the authority does instead of answering. */
export type AuthorityFault =
  | { readonly kind: "refused" | "limited"; readonly words: string; readonly retryAfter?: number }
  | { readonly kind: "unreachable"; readonly retryAfter?: number }
  | { readonly kind: "hanging" };

interface KnownOrder {
  readonly hostname: string;
  readonly order: AcceptedOrder;
  status: "pending" | "valid" | "invalid";
  issued?: Certificate;
}

const LIFE_MS = 90 * 24 * 3_600_000;

/** Issues simulated certificates in memory. */
export class MemoryCertificateAuthority implements CertificateAuthority {
  /** What happens to the next calls, in order; `null` and all later calls are answered as usual. */
  readonly faults: (AuthorityFault | null)[] = [];
  /** The host names of all certificates that were issued. */
  readonly issued: string[] = [];
  /** Looks a proof up as the authority does; `undefined` if it is not served. Defaults to always finding it. */
  lookUp: ((hostname: string, token: string) => string | undefined) | undefined;
  /** How many requests are being answered now, and at most so far. */
  readonly load = { now: 0, most: 0 };
  /** How long an answer takes, in milliseconds. */
  delayMs = 0;
  readonly #clock: Clock;
  readonly #orders = new Map<string, KnownOrder>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The host names of all orders that were made. */
  get orders(): readonly string[] {
    return Array.from(this.#orders.values(), ({ hostname }) => hostname);
  }

  order(hostname: string, options: AuthorityOptions): Promise<AcceptedOrder> {
    return this.#answer(options, () => {
      const number = this.#orders.size + 1;
      const proof = { token: `token-${number}`, text: `token-${number}.${hostname}` };
      const order = { url: `memory:order/${number}`, proof };
      this.#orders.set(order.url, { hostname, order, status: "pending" });
      return order;
    });
  }

  resume(url: string, options: AuthorityOptions): Promise<AcceptedOrder | undefined> {
    return this.#answer(options, () => {
      const known = this.#orders.get(url);
      if (!known || known.status === "invalid") return undefined;
      return known.status === "valid" ? { ...known.order, proof: null } : known.order;
    });
  }

  issue({ order, hostname, key }: CertificateRequest, options: AuthorityOptions): Promise<Certificate> {
    return this.#answer(options, () => {
      const known = this.#orders.get(order.url);
      if (!known || known.status === "invalid") throw refused("No such order");
      if (known.hostname !== hostname) throw refused("The order is for another name");
      if (known.status === "pending") this.#check(known);
      known.issued ??= this.#sign(hostname, key);
      if (known.issued.key.reveal() !== key.reveal()) throw refused("The certificate is for another key");
      return known.issued;
    });
  }

  /** Looks the proof up. */
  #check(known: KnownOrder): void {
    const { hostname, order } = known;
    const { token, text } = order.proof!;
    if (this.lookUp && this.lookUp(hostname, token) !== text) {
      known.status = "invalid";
      throw refused(`The key authorization file of ${hostname} was not found`);
    }
    known.status = "valid";
  }

  #sign(hostname: string, key: CertificateRequest["key"]): Certificate {
    this.issued.push(hostname);
    const notBefore = this.#clock.now();
    const notAfter = new Date(notBefore.getTime() + LIFE_MS);
    const { cert } = selfSigned(hostname, { privateKey: createPrivateKey(key.reveal()), notBefore, notAfter });
    const { fingerprint256 } = new X509Certificate(cert);
    return { hostname, chain: cert, key, issuer: "Memory authority", notBefore, notAfter, fingerprint256 };
  }

  async #answer<T>({ signal }: AuthorityOptions, work: () => T): Promise<T> {
    signal.throwIfAborted();
    this.load.now++;
    this.load.most = Math.max(this.load.most, this.load.now);
    try {
      if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
      const fault = this.faults.shift();
      if (fault?.kind === "hanging") await aborted(signal);
      else if (fault) throw failureOf(fault);
      signal.throwIfAborted();
      return work();
    } finally {
      this.load.now--;
    }
  }
}

function failureOf(fault: Exclude<AuthorityFault, { readonly kind: "hanging" }>): Failure {
  const wait = fault.retryAfter === undefined ? {} : { retryAfter: fault.retryAfter };
  if (fault.kind === "refused") return refused(fault.words, wait);
  if (fault.kind === "limited") return new Failure("remote_failed", "authority_limited", fault.words, wait);
  return new Failure("remote_failed", "authority_unreachable", "The certificate authority does not answer", wait);
}

function refused(words: string, options: { readonly retryAfter?: number } = {}): Failure {
  return new Failure("remote_failed", "authority_refused", `The certificate authority refused: ${words}`, options);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}
