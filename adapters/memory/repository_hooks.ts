import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";
import type { RepositoryHook, RepositoryHooks } from "../../ports/githost/repository_hooks.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps webhooks of repositories in memory. */
export class MemoryRepositoryHooks implements RepositoryHooks {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async find(organizationId: string, name: RepositoryName): Promise<RepositoryHook | undefined> {
    return copied(this.#tables.repositoryHooks.get(keyOf(organizationId, name))?.hook);
  }

  async put(hook: RepositoryHook, secret: Secret): Promise<void> {
    this.#tables.repositoryHooks.set(keyOf(hook.organizationId, hook), { hook: copied(hook), secret });
  }

  async secret(organizationId: string, name: RepositoryName): Promise<Secret | undefined> {
    return this.#tables.repositoryHooks.get(keyOf(organizationId, name))?.secret;
  }

  async secrets(name: RepositoryName) {
    return [...this.#tables.repositoryHooks.values()]
      .filter(({ hook }) => keyOf("", hook) === keyOf("", name))
      .map(({ hook, secret }) => ({ organizationId: hook.organizationId, secret }));
  }

  async remove(organizationId: string, name: RepositoryName): Promise<boolean> {
    return this.#tables.repositoryHooks.delete(keyOf(organizationId, name));
  }
}

function keyOf(organizationId: string, { owner, repo }: RepositoryName): string {
  return JSON.stringify([organizationId, owner.toLowerCase(), repo.toLowerCase()]);
}
