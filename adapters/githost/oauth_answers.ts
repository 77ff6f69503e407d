import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import { Secret } from "../../domain/secret.ts";
import { hasStatus } from "./host_failure.ts";

/** A refusal of OAuth. */
export interface OAuthProblem {
  readonly code: string;
  readonly words: string;
  readonly intervalSeconds: number | null;
}

/** Returns the refusal in an error of octokit's OAuth methods; `undefined` for another error. */
export function oauthProblem(error: unknown): OAuthProblem | undefined {
  if (!hasStatus(error, 400)) return undefined;
  const data = error.response?.data as Readonly<Record<string, unknown>> | undefined;
  const { error: code, error_description: words, interval } = data ?? {};
  if (typeof code !== "string") return undefined;
  const intervalSeconds = typeof interval === "number" ? interval : null;
  return { code, words: typeof words === "string" ? words : code, intervalSeconds };
}

/** Converts the tokens that octokit's OAuth methods return. */
export function grantFrom(
  authentication: { readonly token: string } & Partial<Record<"refreshToken" | "expiresAt", string>>,
): OAuthGrant {
  const { token, refreshToken, expiresAt } = authentication;
  return {
    token: new Secret(token),
    refreshToken: refreshToken === undefined ? null : new Secret(refreshToken),
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
  };
}
