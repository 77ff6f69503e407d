import { fullName, type Repository, type RepositoryName } from "../../domain/githost/repository.ts";
import { addressIn, numberIn, optionalTextIn, textIn, timeIn } from "./answer_fields.ts";
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
  const htmlUrl = addressIn(data.html_url);
  return {
    id: numberIn(data.id),
    name: textIn(data.name),
    fullName: textIn(data.full_name),
    owner: textIn(data.owner?.login),
    // Whatever does not say that everybody may see it is private.
    private: data.private !== false,
    defaultBranch: optionalTextIn(data.default_branch) ?? "main",
    description: optionalTextIn(data.description),
    language: optionalTextIn(data.language),
    htmlUrl,
    cloneUrl: data.clone_url === undefined ? `${htmlUrl}.git` : addressIn(data.clone_url),
    pushedAt: timeIn(data.pushed_at),
  };
}

/** Reads a repository. */
export async function readRepository(call: HostCall, name: RepositoryName): Promise<Repository> {
  const key = `repository ${fullName(name)}`;
  return await call.read(key, ({ rest }, options) => rest.repos.get({ ...name, ...options }), repositoryFrom);
}
