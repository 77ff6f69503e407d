import { Failure } from "../../domain/failure.ts";
import type { Certificate } from "../../domain/certificates/certificate.ts";
import type {
  AcceptedOrder,
  AuthorityOptions,
  CertificateAuthority,
  CertificateRequest,
} from "../../ports/domains/certificate_authority.ts";
import { AcmeClient, type AcmeAnswer, type AcmeClientOptions } from "./acme_client.ts";
import { ofName, refused, retryAfterOf, unreachable } from "./authority_failure.ts";
import { issuedCertificate } from "./issued_certificate.ts";
import { signingRequest } from "./signing_request.ts";

interface Order {
  readonly status: string;
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate?: string;
  readonly error?: unknown;
}

interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly status: string;
  readonly error?: unknown;
}

interface Authorization {
  readonly status: string;
  readonly challenges: readonly Challenge[];
}

/** What to read until it has none of the open statuses. */
interface Polled<T> {
  readonly url: string;
  readonly read: (answer: AcmeAnswer) => T;
  readonly open: readonly string[];
}

const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 5_000;
/** A longer pause that the authority asks for between two looks at an order is cut to this. */
const LONGEST_PAUSE_MS = 30_000;

/** A certificate authority that speaks ACME. Proves control of host names by http-01. */
export class AcmeAuthority implements CertificateAuthority {
  readonly #client: AcmeClient;

  constructor(options: AcmeClientOptions) {
    this.#client = new AcmeClient(options);
  }

  async order(hostname: string, { signal }: AuthorityOptions): Promise<AcceptedOrder> {
    const { newOrder } = await this.#client.directory(signal);
    const identifiers = [{ type: "dns", value: hostname }];
    const answer = await this.#client.post(newOrder, { identifiers }, signal).catch((error: unknown) => {
      throw ofName(error, hostname);
    });
    const url = answer.headers.get("location");
    if (url === null) throw unreachable("it did not say where it keeps the order");
    const accepted = await this.#accepted(url, orderOf(answer), signal);
    if (!accepted) throw refused({ detail: "the new order is invalid" });
    return accepted;
  }

  async resume(url: string, { signal }: AuthorityOptions): Promise<AcceptedOrder | undefined> {
    // The order may be from another authority, before the setting was changed.
    const { newOrder } = await this.#client.directory(signal);
    if (new URL(url).origin !== new URL(newOrder).origin) return undefined;
    try {
      const order = orderOf(await this.#client.post(url, null, signal));
      return await this.#accepted(url, order, signal);
    } catch (error) {
      const isForgotten = error instanceof Failure && error.code === "authority_refused";
      if (isForgotten && error.retryAfter === undefined) return undefined;
      throw error;
    }
  }

  async issue(request: CertificateRequest, { signal }: AuthorityOptions): Promise<Certificate> {
    const { order, hostname, key } = request;
    const after = (...open: readonly string[]) => this.#polled({ url: order.url, read: orderOf, open }, signal);
    let current = await after();
    if (current.status === "pending") {
      for (const url of current.authorizations) await this.#prove(url, signal);
      current = await after("pending");
    }
    if (current.status === "ready") {
      const csr = signingRequest(hostname, key).toString("base64url");
      await this.#client.post(current.finalize, { csr }, signal);
      current = await after("ready", "processing");
    } else if (current.status === "processing") current = await after("processing");
    if (current.status !== "valid" || current.certificate === undefined)
      throw refused(current.error ?? { detail: `the order is ${current.status}` });
    const { text } = await this.#client.post(current.certificate, null, signal);
    return issuedCertificate(text, request);
  }

  /** Returns what an order still needs; `undefined` if it cannot be completed any more. */
  async #accepted(url: string, order: Order, signal: AbortSignal): Promise<AcceptedOrder | undefined> {
    if (order.status === "invalid") return undefined;
    if (order.status !== "pending") return { url, proof: null };
    for (const authorizationUrl of order.authorizations) {
      const authorization = await this.#authorization(authorizationUrl, signal);
      if (authorization.status === "valid") continue;
      if (authorization.status !== "pending") return undefined;
      const { token } = httpChallenge(authorization);
      return { url, proof: { token, text: await this.#client.proofText(token, signal) } };
    }
    return { url, proof: null };
  }

  /** Has a proof checked, if that is still open, and waits for the outcome. */
  async #prove(url: string, signal: AbortSignal): Promise<void> {
    const authorization = await this.#authorization(url, signal);
    if (authorization.status === "valid") return;
    const challenge = httpChallenge(authorization);
    if (challenge.status === "pending") await this.#client.post(challenge.url, {}, signal);
    const outcome = await this.#polled({ url, read: authorizationOf, open: ["pending", "processing"] }, signal);
    if (outcome.status === "valid") return;
    const failed = outcome.challenges.find(({ error }) => error !== undefined);
    throw refused(failed?.error ?? { detail: `the authorization is ${outcome.status}` });
  }

  async #authorization(url: string, signal: AbortSignal): Promise<Authorization> {
    return authorizationOf(await this.#client.post(url, null, signal));
  }

  /** Reads a resource until it has none of the open statuses, as often as the authority asks for. */
  async #polled<T extends Order | Authorization>({ url, read, open }: Polled<T>, signal: AbortSignal): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS)) {
      const answer = await this.#client.post(url, null, signal);
      const state = read(answer);
      if (!open.includes(state.status)) return state;
      const wantedMs = (retryAfterOf(answer.headers) ?? 0) * 1_000;
      await paused(Math.min(wantedMs || pauseMs, LONGEST_PAUSE_MS), signal);
    }
  }
}

/** Returns the order or authorization in an answer. */
function stateOf<T extends Order | Authorization>({ json, url }: AcmeAnswer, list: keyof T & string): T {
  const state = (json ?? {}) as Record<string, unknown>;
  if (typeof state.status === "string" && Array.isArray(state[list])) return json as T;
  throw unreachable(`it answered with something else than ACME at ${url}`);
}

function orderOf(answer: AcmeAnswer): Order {
  return stateOf<Order>(answer, "authorizations");
}

function authorizationOf(answer: AcmeAnswer): Authorization {
  return stateOf<Authorization>(answer, "challenges");
}

function httpChallenge({ challenges }: Authorization): Challenge {
  const challenge = challenges.find(({ type }) => type === "http-01");
  if (!challenge) throw refused({ detail: "it does not offer http-01" });
  // It becomes part of a path and of a route.
  if (!/^[\w-]{1,200}$/.test(challenge.token)) throw refused({ detail: "its token is malformed" });
  return challenge;
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
