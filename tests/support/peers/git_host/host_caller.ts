import { createPublicKey, verify } from "node:crypto";
import type { MemoryRepository } from "../../../../adapters/memory/git_host_data.ts";
import { Secret } from "../../../../domain/secret.ts";
import type { HostAccess } from "../../../../ports/githost/host_access.ts";
import type { EmulatedHostState } from "./emulated_host_state.ts";
import { HostAnswer } from "./host_answer.ts";

/** Who a request comes from. */
export type HostCaller =
  | { readonly kind: "anonymous" }
  | { readonly kind: "app" }
  | { readonly kind: "user"; readonly login: string; readonly scopes: readonly string[]; readonly access: HostAccess }
  | {
      readonly kind: "installation";
      readonly access: HostAccess & { readonly kind: "installation" };
      readonly permissions: Readonly<Record<string, string>>;
      readonly repositoryIds: readonly number[] | null;
    };

/** Identifies the caller by its token, as strictly as the real host: unknown, expired and revoked ones are refused. */
export function callerOf(state: EmulatedHostState, token: string | undefined): HostCaller {
  if (token === undefined) return { kind: "anonymous" };
  if (token.split(".").length === 3) return appOf(state, token);
  const issued = state.installationTokens.get(token);
  if (issued) {
    const installation = state.installations.get(issued.installationId);
    if (!installation || issued.expiresAt.getTime() <= Date.now()) throw HostAnswer.error(401, "Bad credentials");
    if (installation.suspended) throw HostAnswer.error(403, "This installation has been suspended");
    const access = { kind: "installation", installationId: issued.installationId } as const;
    return { kind: "installation", access, permissions: issued.permissions, repositoryIds: issued.repositoryIds };
  }
  const owner = state.tokens.get(token);
  if (!owner || (owner.expiresAt && owner.expiresAt.getTime() <= Date.now()))
    throw HostAnswer.error(401, "Bad credentials");
  const access = { kind: "token", token: new Secret(token) } as const;
  return { kind: "user", login: owner.login, scopes: owner.scopes, access };
}

/** Returns whether a caller sees a repository at all. */
export function sees(state: EmulatedHostState, caller: HostCaller, { repository }: MemoryRepository): boolean {
  return !repository.private || owns(state, caller, { repository });
}

/** Returns whether a repository is among those that a caller was given access to. */
export function owns(
  state: EmulatedHostState,
  caller: HostCaller,
  { repository }: Pick<MemoryRepository, "repository">,
): boolean {
  if (caller.kind === "anonymous" || caller.kind === "app") return false;
  if (!state.isOwn(caller.access, repository)) return false;
  return caller.kind === "user" || (caller.repositoryIds?.includes(repository.id) ?? true);
}

/** Refuses an installation token without a permission. Users have them all, as far as their roles go. */
export function demand(caller: HostCaller, permission: string, level: "read" | "write"): void {
  if (caller.kind !== "installation") return;
  const held = caller.permissions[permission];
  if (held !== "write" && (held !== "read" || level === "write"))
    throw HostAnswer.error(403, "Resource not accessible by integration");
}

function appOf(state: EmulatedHostState, token: string): HostCaller {
  const [header = "", payload = "", signature = ""] = token.split(".");
  const key = createPublicKey(state.appPrivateKey);
  const signed = Buffer.from(`${header}.${payload}`);
  if (!verify("RSA-SHA256", signed, key, Buffer.from(signature, "base64url")))
    throw HostAnswer.error(401, "A JSON web token could not be decoded");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, number | string>;
  const now = Date.now() / 1_000;
  if (String(claims["iss"]) !== String(state.appId)) throw HostAnswer.error(401, "Integration not found");
  if (Number(claims["exp"]) > now + 600)
    throw HostAnswer.error(401, "'Expiration time' claim ('exp') is too far in the future");
  if (Number(claims["exp"]) <= now || Number(claims["iat"]) > now)
    throw HostAnswer.error(401, "'Issued at' claim ('iat') must be an Integer representing the time of the assertion");
  return { kind: "app" };
}
