import type { HostHook } from "../../domain/githost/host_hook.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";
import type { HostAccess } from "./host_access.ts";

/** The settings of a webhook. Its deliveries are signed with the secret. */
export interface HookSettings {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: Secret;
}

/** The webhooks of repositories on the git host. Every method rejects as those of `GitRepositories` do. */
export interface GitHooks {
  /** Returns all webhooks, of every page of the host. */
  list(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<readonly HostHook[]>;
  /** Adds an active webhook. */
  create(access: HostAccess, name: RepositoryName, hook: HookSettings, signal: AbortSignal): Promise<HostHook>;
  /** Replaces the settings of a webhook and activates it. Rejects with `not_found`, code `webhook_not_found`. */
  change(
    access: HostAccess,
    name: RepositoryName,
    id: number,
    hook: HookSettings,
    signal: AbortSignal,
  ): Promise<HostHook>;
  /** Removes a webhook. Rejects with `not_found`, code `webhook_not_found`. */
  remove(access: HostAccess, name: RepositoryName, id: number, signal: AbortSignal): Promise<void>;
}
