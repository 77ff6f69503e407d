import { Failure } from "../../domain/failure.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { type Listing, pageOf, type SearchedPage } from "../../domain/page.ts";
import { randomText } from "../../domain/identity/token.ts";
import { Secret } from "../../domain/secret.ts";
import type { GitHooks, HookSettings } from "../../ports/githost/git_hooks.ts";
import type { HostHook } from "../../domain/githost/host_hook.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { RepositoryHooks } from "../../ports/githost/repository_hooks.ts";
import { type GitHostSettings, webhookUrl } from "./git_host_settings.ts";
import { reachRepository, type ReachRepositoryPorts } from "./reach_repository.ts";

export interface WebhookPorts extends ReachRepositoryPorts {
  readonly gitHooks: GitHooks;
  readonly gitHost: GitHostSettings;
  readonly repositoryHooks: RepositoryHooks;
}

/** The events that Slipway acts on. */
const EVENTS = ["push", "pull_request"] as const;

/** Lists the webhooks of a repository, optionally only those whose address contains a text. */
export function listWebhooks(ports: WebhookPorts) {
  const reach = reachRepository(ports);
  return async function (
    by: Principal,
    name: RepositoryName,
    page: SearchedPage,
    signal: AbortSignal,
  ): Promise<Listing<HostHook>> {
    const request = { name, permission: "githost:list" } as const;
    const { value } = await reach(by, request, (access) => ports.gitHooks.list(access, name, signal), signal);
    return pageOf(value, page, ({ url }) => url);
  };
}

/** A registered webhook, and whether it was there before. */
export interface RegisteredWebhook extends HostHook {
  readonly reused: boolean;
}

/**
 * Registers the webhook that reports pushes, with its own secret, or reuses the one that was registered before. Repeating
 * it changes nothing.
 */
export function registerWebhook(ports: WebhookPorts) {
  const reach = reachRepository(ports);
  /** One registration per repository at a time, because the git host would accept two. */
  const running = new Map<string, Promise<unknown>>();
  return async function (by: Principal, name: RepositoryName, signal: AbortSignal): Promise<RegisteredWebhook> {
    const request = { name, permission: "githost:write" } as const;
    const use = (access: HostAccess) =>
      inTurn(fullName(name).toLowerCase(), () => registered(by, name, access, signal));
    return (await reach(by, request, use, signal)).value;
  };

  async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = running.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    running.set(key, own);
    try {
      return await own;
    } finally {
      if (running.get(key) === own) running.delete(key);
    }
  }

  async function registered(
    { organizationId }: Principal,
    name: RepositoryName,
    access: HostAccess,
    signal: AbortSignal,
  ): Promise<RegisteredWebhook> {
    const { gitHooks, repositoryHooks } = ports;
    const url = webhookUrl(ports.gitHost);
    const existing = (await gitHooks.list(access, name, signal)).find((hook) => hook.url === url);
    const known = await repositoryHooks.secret(organizationId, name);
    const isComplete = existing?.active === true && EVENTS.every((event) => existing.events.includes(event));
    const stored = await repositoryHooks.find(organizationId, name);
    if (existing && known && isComplete && stored?.hookId === existing.id) return { ...existing, reused: true };
    // Another organization may have registered the same webhook: both keep its secret.
    const [other] = existing ? await repositoryHooks.secrets(name) : [];
    const secret = known ?? other?.secret ?? new Secret(randomText());
    const settings: HookSettings = { url, events: EVENTS, secret };
    // Stored first: a delivery may arrive before the response does.
    const record = { ...name, organizationId, hookId: existing?.id ?? 0, createdAt: ports.clock.now() };
    await repositoryHooks.put(record, secret);
    const hook = existing
      ? await gitHooks.change(access, name, existing.id, settings, signal)
      : await gitHooks.create(access, name, settings, signal).catch(reuse);
    await repositoryHooks.put({ ...record, hookId: hook.id }, secret);
    return { ...hook, reused: existing !== undefined };

    /** Another process may have registered it just before. */
    async function reuse(error: unknown): Promise<HostHook> {
      const rival = (await gitHooks.list(access, name, signal)).find((each) => each.url === url);
      if (!rival) throw error;
      return gitHooks.change(access, name, rival.id, settings, signal);
    }
  }
}

/** Removes a webhook of a repository. */
export function removeWebhook(ports: WebhookPorts) {
  const reach = reachRepository(ports);
  return async function (by: Principal, name: RepositoryName, hookId: number, signal: AbortSignal): Promise<void> {
    const request = { name, permission: "githost:admin" } as const;
    const stored = await ports.repositoryHooks.find(by.organizationId, name);
    await reach(by, request, removed, signal);
    if (stored?.hookId === hookId) await ports.repositoryHooks.remove(by.organizationId, name);

    async function removed(access: HostAccess): Promise<void> {
      try {
        await ports.gitHooks.remove(access, name, hookId, signal);
      } catch (error) {
        // What is gone at the host is still forgotten here.
        if (error instanceof Failure && error.code === "webhook_not_found" && stored?.hookId === hookId) return;
        throw error;
      }
    }
  };
}
