import { refusedByHost, webhookNotFound } from "../../domain/githost/host_failures.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { HostHook } from "../../domain/githost/host_hook.ts";
import type { GitHooks, HookSettings } from "../../ports/githost/git_hooks.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { MemoryGitHostState } from "./git_host.ts";
import type { MemoryRepository } from "./git_host_data.ts";

/** The webhooks of a git host in memory. */
export class MemoryGitHooks implements GitHooks {
  readonly #host: MemoryGitHostState;

  constructor(host: MemoryGitHostState) {
    this.#host = host;
  }

  async list(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<readonly HostHook[]> {
    return [...this.#hooks(access, name, signal).values()].map(viewOf);
  }

  async create(
    access: HostAccess,
    name: RepositoryName,
    settings: HookSettings,
    signal: AbortSignal,
  ): Promise<HostHook> {
    const hooks = this.#hooks(access, name, signal);
    const action = `register the webhook of "${name.owner}/${name.repo}"`;
    if ([...hooks.values()].some(({ url }) => url === settings.url))
      throw refusedByHost(action, "Hook already exists on this repository");
    return this.#put(hooks, this.#host.number(), settings);
  }

  async change(
    access: HostAccess,
    name: RepositoryName,
    id: number,
    ...[settings, signal]: [HookSettings, AbortSignal]
  ): Promise<HostHook> {
    const hooks = this.#hooks(access, name, signal);
    if (!hooks.has(id)) throw webhookNotFound(name, id);
    return this.#put(hooks, id, settings);
  }

  async remove(access: HostAccess, name: RepositoryName, id: number, signal: AbortSignal): Promise<void> {
    if (!this.#hooks(access, name, signal).delete(id)) throw webhookNotFound(name, id);
  }

  #put(hooks: MemoryRepository["hooks"], id: number, settings: HookSettings): HostHook {
    const hook = { id, url: settings.url, events: [...settings.events], active: true };
    hooks.set(id, { ...hook, settings });
    return { ...hook, events: [...hook.events] };
  }

  #hooks(access: HostAccess, name: RepositoryName, signal: AbortSignal): MemoryRepository["hooks"] {
    this.#host.enterAs(access, signal);
    const { repository, hooks } = this.#host.visible(access, name);
    if (this.#host.mayManage(access, repository, ["admin:repo_hook", "repo"])) return hooks;
    throw refusedByHost(`manage the webhooks of "${repository.fullName}"`, "this login may not manage them");
  }
}

function viewOf({ id, url, events, active }: HostHook): HostHook {
  return { id, url, events: [...events], active };
}
