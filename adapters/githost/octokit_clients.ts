import type { Octokit } from "octokit";
import { hostNotConfigured, loginExpired } from "../../domain/githost/host_failures.ts";
import type { GitAccount } from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { unlessAborted } from "../shared/deadline.ts";
import { HostCall, type HostCallOptions } from "./host_call.ts";
import { hasStatus, hostFailure, wordsOf } from "./host_failure.ts";
import { type HostFetch, hostFetch, UnusableAnswer } from "./host_fetch.ts";
import { readInstallation } from "./installation_from.ts";
import { appRefused, InstallationTokens, TokenCache } from "./installation_tokens.ts";
import { RememberedAnswers } from "./remembered_answers.ts";

/** Where the git host is, and what Slipway is registered as. */
export interface GitHostSettings {
  /** Such as `https://api.github.com`, or `https://git.example.com/api/v3`. */
  readonly apiUrl: string;
  /** Such as `https://github.com`. */
  readonly webUrl: string;
  readonly app?: { readonly id: string; readonly privateKey: Secret } | undefined;
  readonly oauth?: { readonly clientId: string; readonly clientSecret?: Secret | undefined } | undefined;
  /** Milliseconds that one request may take. Defaults to 10 s. */
  readonly requestTimeoutMs?: number;
}

/** One operation of a port on the git host. */
export interface HostOperation {
  /** Completes "Cannot …". */
  readonly action: string;
  readonly signal: AbortSignal;
  readonly secrets?: readonly Secret[];
  /** Explains an answer 404; it may ask the git host. */
  readonly notFound?: (call: HostCall) => Error | Promise<Error>;
}

const RATE_LIMIT_WAIT_MS = 30_000;
const OPERATION_MS = 60_000;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Makes calls to the git host by octokit, which is loaded with the first of them. An operation takes at most a minute, of
 * which rate limits at most half.
 */
export class OctokitClients {
  readonly settings: GitHostSettings;
  readonly #remembered = new RememberedAnswers();
  #octokit: Promise<Octokit> | undefined;
  #tokens: Promise<InstallationTokens> | undefined;

  constructor(settings: GitHostSettings) {
    this.settings = settings;
  }

  /** Runs an operation with an access. */
  async as<T>(access: HostAccess, operation: HostOperation, work: (call: HostCall) => Promise<T>): Promise<T> {
    const secrets = [...(operation.secrets ?? []), ...(access.kind === "token" ? [access.token] : [])];
    return await this.#run({ ...operation, secrets }, async (fetch) => {
      const [credential, octokit] = [await this.#credentialOf(access), await this.octokit()];
      const call = new HostCall({ octokit, fetch, remembered: this.#remembered, ...credential });
      return await work(call).catch(async (error: unknown) => {
        throw hasStatus(error, 404) && operation.notFound ? await operation.notFound(call) : error;
      });
    });
  }

  /** Runs an operation as the app itself. */
  async asApp<T>(operation: HostOperation, work: (call: HostCall) => Promise<T>): Promise<T> {
    return await this.#run(operation, async (fetch) => {
      const [octokit, firstToken] = [await this.octokit(), await (await this.tokens()).app()];
      const call = new HostCall({ octokit, fetch, remembered: this.#remembered, identity: "app", firstToken });
      return await work(call).catch(async (error: unknown) => {
        if (hasStatus(error, 401)) throw appRefused(wordsOf(error, []));
        throw hasStatus(error, 404) && operation.notFound ? await operation.notFound(call) : error;
      });
    });
  }

  /** Returns the account that the app is installed on. */
  async installationAccount(id: number, operation: HostOperation): Promise<GitAccount> {
    const found = await this.asApp(operation, (call) => readInstallation(call, id));
    if (!found) throw loginExpired();
    return found.account;
  }

  /** Runs an operation on the git host's web address, where OAuth is. */
  async onWeb<T>(operation: HostOperation, work: (request: Octokit["request"]) => Promise<T>): Promise<T> {
    return await this.#run(operation, async (fetch) => {
      const { request } = await this.octokit();
      const webUrl = this.settings.webUrl.replace(/\/+$/, "");
      return await work(request.defaults({ baseUrl: webUrl, request: { fetch } }));
    });
  }

  /** Returns the tokens of the app. Throws without the app's settings. */
  async tokens(): Promise<InstallationTokens> {
    const { app } = this.settings;
    if (!app) throw hostNotConfigured("the app is not configured. Set GITHOST_APP_ID and GITHOST_APP_PRIVATE_KEY");
    this.#tokens ??= this.#loadTokens(app);
    return await this.#tokens;
  }

  async octokit(): Promise<Octokit> {
    this.#octokit ??= loadOctokit(this.settings);
    return await this.#octokit;
  }

  #fetch(signal: AbortSignal): HostFetch {
    const { apiUrl, webUrl, requestTimeoutMs } = this.settings;
    return hostFetch({
      origins: [new URL(apiUrl).origin, new URL(webUrl).origin],
      signal,
      waitUntil: performance.now() + RATE_LIMIT_WAIT_MS,
      ...(requestTimeoutMs === undefined ? {} : { timeoutMs: requestTimeoutMs }),
    });
  }

  async #credentialOf(access: HostAccess): Promise<Pick<HostCallOptions, "identity" | "firstToken" | "renew">> {
    if (access.kind === "installation") {
      const { installationId: id } = access;
      const tokens = await this.tokens();
      const renew = () => tokens.installation(id, { renew: true });
      return { identity: `installation ${id}`, firstToken: await tokens.installation(id), renew };
    }
    const token = access.token.reveal();
    if (!/^[\x21-\x7E]+$/.test(token)) throw loginExpired();
    const digest = new Bun.CryptoHasher("sha256").update(token).digest("hex");
    return { identity: `token ${digest}`, firstToken: access.token };
  }

  async #run<T>(operation: HostOperation, work: (fetch: HostFetch) => Promise<T>): Promise<T> {
    const { action, signal, secrets = [] } = operation;
    signal.throwIfAborted();
    const late = AbortSignal.timeout(OPERATION_MS);
    const ended = new AbortController();
    try {
      const fetch = this.#fetch(AbortSignal.any([signal, late, ended.signal]));
      return await unlessAborted(work(fetch), AbortSignal.any([signal, late]));
    } catch (error) {
      // Other pages of a list may still be on their way.
      ended.abort();
      signal.throwIfAborted();
      const why = late.aborted ? new UnusableAnswer(`it took longer than ${OPERATION_MS / 1_000} s`) : error;
      throw hostFailure(why, { action, secrets });
    }
  }

  /** Several operations may wait for one token, so their signals do not end its request. */
  async #loadTokens({ id, privateKey }: NonNullable<GitHostSettings["app"]>): Promise<InstallationTokens> {
    const [{ createAppAuth }, { request }] = await Promise.all([import("@octokit/auth-app"), this.octokit()]);
    const fetch = (url: string, init: object) => this.#fetch(AbortSignal.timeout(OPERATION_MS))(url, init);
    const options = { appId: id, privateKey: privateKey.reveal(), cache: new TokenCache(), log: SILENT };
    return new InstallationTokens(createAppAuth({ ...options, request: request.defaults({ request: { fetch } }) }));
  }
}

/** Loads octokit, without what `hostFetch()` does: waiting, repeating and parsing. */
async function loadOctokit({ apiUrl }: GitHostSettings): Promise<Octokit> {
  const { Octokit: Client } = await import("octokit");
  return new Client({
    baseUrl: apiUrl.replace(/\/+$/, ""),
    userAgent: "slipway",
    log: SILENT,
    throttle: { enabled: false },
    retry: { enabled: false },
    request: { parseSuccessResponseBody: false, log: SILENT },
  });
}
