import { refusedByHost, repositoryNotFound, webhookNotFound } from "../../domain/githost/host_failures.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { HostHook } from "../../domain/githost/host_hook.ts";
import type { GitHooks, HookSettings } from "../../ports/githost/git_hooks.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { HostCall } from "./host_call.ts";
import { hasStatus } from "./host_failure.ts";
import { isRepositoryName } from "./host_names.ts";
import type { HostOperation, OctokitClients } from "./octokit_clients.ts";
import { readRepository } from "./repository_from.ts";

/** A webhook in an answer of the git host, as far as it is used. */
interface HookData {
  readonly id: number;
  readonly events: readonly string[];
  readonly active: boolean;
  readonly config: { readonly url?: string };
}

/** The webhooks of a git host that octokit reaches. */
export class OctokitHooks implements GitHooks {
  readonly #clients: OctokitClients;

  constructor(clients: OctokitClients) {
    this.#clients = clients;
  }

  async list(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<readonly HostHook[]> {
    return await this.#on(access, name, { signal }, (call) =>
      call.list(
        `hooks ${fullName(name)}`,
        ({ rest }, options) => rest.repos.listWebhooks({ ...name, ...options }),
        (data) => data.map(hookFrom),
      ),
    );
  }

  async create(access: HostAccess, name: RepositoryName, hook: HookSettings, signal: AbortSignal): Promise<HostHook> {
    return await this.#on(access, name, { signal, secrets: [hook.secret] }, async (call) => {
      const settings = settingsOf(hook);
      const { data } = await call.send(({ rest }, options) =>
        rest.repos.createWebhook({ ...name, ...settings, ...options }),
      );
      return hookFrom(data);
    });
  }

  async change(
    access: HostAccess,
    name: RepositoryName,
    id: number,
    ...[hook, signal]: [HookSettings, AbortSignal]
  ): Promise<HostHook> {
    return await this.#on(access, name, { signal, secrets: [hook.secret], id }, async (call) => {
      const settings = settingsOf(hook);
      const { data } = await call.send(({ rest }, options) =>
        rest.repos.updateWebhook({ ...name, hook_id: id, ...settings, ...options }),
      );
      return hookFrom(data);
    });
  }

  async remove(access: HostAccess, name: RepositoryName, id: number, signal: AbortSignal): Promise<void> {
    await this.#on(access, name, { signal, id }, (call) =>
      call.send(({ rest }, options) => rest.repos.deleteWebhook({ ...name, hook_id: id, ...options })),
    );
  }

  async #on<T>(
    access: HostAccess,
    name: RepositoryName,
    { id, ...operation }: Pick<HostOperation, "signal" | "secrets"> & { readonly id?: number },
    work: (call: HostCall) => Promise<T>,
  ): Promise<T> {
    const action = `manage the webhooks of "${fullName(name)}"`;
    const notFound = (call: HostCall) => whyMissing(call, name, action, id);
    return await this.#clients.as(access, { ...operation, action, notFound }, async (call) => {
      if (!isRepositoryName(name)) throw repositoryNotFound(name);
      return await work(call);
    });
  }
}

/** Explains an answer 404, which the host also gives to those who may not manage webhooks. */
async function whyMissing(
  call: HostCall,
  name: RepositoryName,
  action: string,
  id: number | undefined,
): Promise<Error> {
  try {
    await readRepository(call, name);
    if (id === undefined) return refusedByHost(action, "this login may not manage them");
    await call.send(({ rest }, options) => rest.repos.listWebhooks({ ...name, per_page: 1, ...options }));
    return webhookNotFound(name, id);
  } catch (error) {
    if (!hasStatus(error, 404)) throw error;
    const isListed = error.request?.url?.includes("/hooks") ?? false;
    return isListed ? refusedByHost(action, "this login may not manage them") : repositoryNotFound(name);
  }
}

function settingsOf({ url, events, secret }: HookSettings) {
  const config = { url, content_type: "json", insecure_ssl: "0", secret: secret.reveal() };
  return { config, events: [...events], active: true };
}

function hookFrom({ id, events, active, config }: HookData): HostHook {
  return { id, url: config.url ?? "", events: [...events], active };
}
