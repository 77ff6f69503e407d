import { fullName, type Repository, type RepositoryName } from "../../domain/githost/repository.ts";
import type { HostCall } from "./host_call.ts";

/** A repository in an answer of the git host, as far as it is used. */
interface HostRepository {
  readonly id: number;
  readonly name: string;
  readonly full_name: string;
  readonly owner: { readonly login: string };
  readonly private: boolean;
  readonly default_branch?: string;
  readonly description: string | null;
  readonly language?: string | null;
  readonly html_url: string;
  readonly clone_url?: string;
  readonly pushed_at?: string | null;
}

/** Converts a repository of an answer. */
export function repositoryFrom(data: HostRepository): Repository {
  return {
    id: data.id,
    name: data.name,
    fullName: data.full_name,
    owner: data.owner.login,
    private: data.private,
    defaultBranch: data.default_branch ?? "main",
    description: data.description,
    language: data.language ?? null,
    htmlUrl: data.html_url,
    cloneUrl: data.clone_url ?? `${data.html_url}.git`,
    pushedAt: data.pushed_at ? new Date(data.pushed_at) : null,
  };
}

/** Reads a repository. */
export async function readRepository(call: HostCall, name: RepositoryName): Promise<Repository> {
  const key = `repository ${fullName(name)}`;
  return await call.read(key, ({ rest }, options) => rest.repos.get({ ...name, ...options }), repositoryFrom);
}
