import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";

/** A webhook that Slipway registered for an organization, without its secret. */
export interface RepositoryHook extends RepositoryName {
  readonly organizationId: string;
  readonly hookId: number;
  readonly createdAt: Date;
}

/** Stores the webhooks that Slipway registered, one per organization and repository, with their secrets encrypted. */
export interface RepositoryHooks {
  /** Owner and repository are compared without regard to case, here and below. */
  find(organizationId: string, name: RepositoryName): Promise<RepositoryHook | undefined>;
  /** Adds a webhook, or replaces the former one of the same repository. */
  put(hook: RepositoryHook, secret: Secret): Promise<void>;
  secret(organizationId: string, name: RepositoryName): Promise<Secret | undefined>;
  /** Returns the secrets of all organizations that registered a webhook for a repository. */
  secrets(name: RepositoryName): Promise<readonly { readonly organizationId: string; readonly secret: Secret }[]>;
  /** Returns `false` if there is no such webhook. */
  remove(organizationId: string, name: RepositoryName): Promise<boolean>;
}
