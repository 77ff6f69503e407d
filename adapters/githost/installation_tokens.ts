import type { createAppAuth } from "@octokit/auth-app";
import { Failure } from "../../domain/failure.ts";
import { hostNotConfigured, loginExpired } from "../../domain/githost/host_failures.ts";
import { Secret } from "../../domain/secret.ts";
import { hasStatus, hostFailure, isHttpError, wordsOf } from "./host_failure.ts";
import { UnusableAnswer } from "./host_fetch.ts";

type AppAuth = ReturnType<typeof createAppAuth>;

/** Limits a token to one repository and to some permissions. */
export interface TokenLimits {
  readonly repositoryId: number;
  readonly permissions: Readonly<Record<string, "read" | "write">>;
}

const MAX_TOKENS = 1_000;
const RENEWED_BEFORE_MS = 5 * 60_000;

/** Tokens of the app's installations, renewed five minutes before they expire. */
export class InstallationTokens {
  readonly #auth: AppAuth;

  constructor(auth: AppAuth) {
    this.#auth = auth;
  }

  /** Returns a token that signs as the app itself. */
  async app(): Promise<Secret> {
    try {
      return new Secret((await this.#auth({ type: "app" })).token);
    } catch (error) {
      throw tokenFailure(error);
    }
  }

  /** Returns a token for an installation: a new one if the former is refused. */
  async installation(installationId: number, { renew = false } = {}): Promise<Secret> {
    try {
      return new Secret((await this.#auth({ type: "installation", installationId, refresh: renew })).token);
    } catch (error) {
      throw tokenFailure(error);
    }
  }

  /** Returns a new token with limits. Throws the host's answer 422 if the installation does not reach that far. */
  async limited(
    installationId: number,
    { repositoryId, permissions }: TokenLimits,
  ): Promise<{ readonly token: Secret; readonly expiresAt: Date }> {
    try {
      const limits = { repositoryIds: [repositoryId], permissions, refresh: true };
      const { token, expiresAt } = await this.#auth({ type: "installation", installationId, ...limits });
      return { token: new Secret(token), expiresAt: new Date(expiresAt) };
    } catch (error) {
      throw hasStatus(error, 422) ? error : tokenFailure(error);
    }
  }
}

/** Explains why there is no token. What is neither an answer nor the lack of one is about the key. */
function tokenFailure(error: unknown): Error {
  if (hasStatus(error, 404)) return loginExpired();
  if (hasStatus(error, 401)) return appRefused(wordsOf(error, []));
  if (isHttpError(error) || error instanceof UnusableAnswer || error instanceof Failure)
    return hostFailure(error, { action: "use the installation of the app", secrets: [] });
  const why = "the private key of the app cannot be read. Check GITHOST_APP_PRIVATE_KEY";
  return hostNotConfigured(why, { cause: new Error(error instanceof Error ? error.name : "no reason") });
}

/** The failure of a request that was signed as the app, when the git host does not accept the signature. */
export function appRefused(words: string): Error {
  const what = "Check GITHOST_APP_ID, GITHOST_APP_PRIVATE_KEY and the clock of this machine";
  return hostNotConfigured(`it does not accept the app (${words}). ${what}`);
}

/** The cache of octokit's tokens: forgets them some minutes before they expire, and keeps none that are limited. */
export class TokenCache {
  readonly #tokens = new Map<string, string>();

  get(key: string): string {
    const [, , expiresAt = ""] = this.#tokens.get(key)?.split("|") ?? [];
    if (Date.parse(expiresAt) - RENEWED_BEFORE_MS > Date.now()) return this.#tokens.get(key) ?? "";
    this.#tokens.delete(key);
    return "";
  }

  set(key: string, value: string): void {
    if (key.includes("|")) return;
    this.#tokens.set(key, value);
    const oldest = this.#tokens.keys().next().value;
    if (this.#tokens.size > MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
  }
}
