import { newCertificateKey } from "../../domain/certificates/new_certificate_key.ts";
import type { AuthorityAccounts } from "../../ports/domains/authority_accounts.ts";
import { AccountKey } from "./account_key.ts";
import { accountLimited, problemKind, refused, retryAfterOf, unreachable, wordsOf } from "./authority_failure.ts";

export interface AcmeClientOptions {
  readonly directoryUrl: string;
  /** Where the authority writes to about expiring certificates. */
  readonly email?: string | undefined;
  readonly accounts: AuthorityAccounts;
  /** PEM certificates of the authorities to trust when connecting. Defaults to those of the system. */
  readonly authorities?: readonly string[] | undefined;
  /** How long one request may take. Defaults to 20 s. */
  readonly requestMs?: number;
}

/** An answer of the authority. */
export interface AcmeAnswer {
  readonly url: string;
  /** The parsed JSON, or `undefined` if it is none. */
  readonly json: unknown;
  readonly text: string;
  readonly headers: Headers;
}

/** The addresses of an authority. */
export interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
}

interface Account {
  readonly kid: string;
  readonly key: AccountKey;
}

const REQUEST_MS = 20_000;
const MOST_NONCES = 10;
const NONCES_KEPT = 10;

/** Signed requests to an ACME authority (RFC 8555, section 6), with the account of this installation. */
export class AcmeClient {
  readonly #options: AcmeClientOptions;
  readonly #nonces: string[] = [];
  #directory: Directory | undefined;
  #account: Account | undefined;

  constructor(options: AcmeClientOptions) {
    this.#options = options;
  }

  /** The addresses of the authority. */
  async directory(signal: AbortSignal): Promise<Directory> {
    if (this.#directory) return this.#directory;
    const { json } = await this.#fetched(this.#options.directoryUrl, { method: "GET" }, signal);
    const { newNonce, newAccount, newOrder } = (json ?? {}) as Partial<Directory>;
    if (![newNonce, newAccount, newOrder].every((url) => typeof url === "string" && URL.canParse(url)))
      throw unreachable("ACME_DIRECTORY_URL does not lead to an ACME directory");
    return (this.#directory = { newNonce, newAccount, newOrder } as Directory);
  }

  /** The text that proves control of a host name to this authority. */
  async proofText(token: string, signal: AbortSignal): Promise<string> {
    const { key } = await this.#ownAccount(signal);
    return `${token}.${key.thumbprint}`;
  }

  /** Sends a request of the account; a payload of `null` only reads. */
  async post(url: string, payload: unknown, signal: AbortSignal): Promise<AcmeAnswer> {
    const { key, kid } = await this.#ownAccount(signal);
    return this.#signed({ key, kid, url, payload }, signal);
  }

  /** Registers the account. The authority returns the same one for the same key. */
  async #ownAccount(signal: AbortSignal): Promise<Account> {
    if (this.#account) return this.#account;
    const { accounts, directoryUrl, email } = this.#options;
    const { newAccount: url } = await this.directory(signal);
    const key = new AccountKey(await accounts.key(directoryUrl, newCertificateKey));
    const contact = email === undefined ? {} : { contact: [`mailto:${email}`] };
    const { headers } = await this.#signed({ key, url, payload: { termsOfServiceAgreed: true, ...contact } }, signal);
    const kid = headers.get("location");
    if (kid === null) throw unreachable("it did not say where it keeps the account");
    return (this.#account = { kid, key });
  }

  async #signed(
    request: { readonly key: AccountKey; readonly kid?: string; readonly url: string; readonly payload: unknown },
    signal: AbortSignal,
  ): Promise<AcmeAnswer> {
    const { key, kid, url, payload } = request;
    for (let left = MOST_NONCES; ; left--) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce(signal));
      const body = key.sign({ nonce, url, ...(kid !== undefined && { kid }) }, payload);
      const headers = { "content-type": "application/jose+json" };
      const answer = await this.#fetched(url, { method: "POST", headers, body }, signal);
      if (answer.status < 400) return answer;
      const kind = problemKind(answer.json);
      if (kind === "badNonce" && left > 0) continue;
      // The authority has forgotten the account: it is registered anew with the next request.
      if (kind === "accountDoesNotExist") this.#account = undefined;
      const { newAccount, newOrder } = await this.directory(signal);
      const fail = kind === "rateLimited" && (url === newAccount || url === newOrder) ? accountLimited : refused;
      throw fail(answer.json, retryAfterOf(answer.headers), new Error(`HTTP ${answer.status} ${kind}`));
    }
  }

  async #newNonce(signal: AbortSignal): Promise<string> {
    const { newNonce } = await this.directory(signal);
    await this.#fetched(newNonce, { method: "HEAD" }, signal);
    const nonce = this.#nonces.pop();
    if (nonce === undefined) throw unreachable("it gave no nonce");
    return nonce;
  }

  /** Returns any answer but that of an authority that is out of order. Keeps its nonce. */
  async #fetched(url: string, init: RequestInit, signal: AbortSignal): Promise<AcmeAnswer & { status: number }> {
    const { authorities, requestMs = REQUEST_MS } = this.#options;
    const tls = authorities ? { tls: { ca: [...authorities] } } : {};
    const limited = AbortSignal.any([signal, AbortSignal.timeout(requestMs)]);
    try {
      const response = await fetch(url, { ...init, ...tls, redirect: "manual", signal: limited });
      const text = await response.text();
      const { headers, status } = response;
      const nonce = headers.get("replay-nonce");
      if (nonce !== null && this.#nonces.length < NONCES_KEPT) this.#nonces.push(nonce);
      const json = jsonOf(text);
      if (status >= 500) throw unreachable(`it answered ${status}: ${wordsOf(json)}`, retryAfterOf(headers));
      if (status >= 300 && status < 400) throw unreachable(`it answered ${status}, a redirect, which is not followed`);
      if (status >= 400 && init.method !== "POST") throw unreachable(`it answered ${status} at ${url}`);
      return { url, json, text, headers, status };
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof Error && error.name === "Failure" ? error : notConnected(url, error, requestMs);
    }
  }
}

function notConnected(url: string, error: unknown, requestMs: number): Error {
  const { code, name, message } = error as Error & { readonly code?: string };
  const host = new URL(url).host;
  if (name === "TimeoutError") return unreachable(`${host} did not answer within ${requestMs / 1_000} s`);
  if (/CERT|SELF_SIGNED|ISSUER/.test(code ?? ""))
    return unreachable(`${host} is not trusted (${code}). Set ACME_CA_FILE to its CA certificate`, undefined, error);
  return unreachable(`${host} does not answer (${code ?? message})`, undefined, error);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
