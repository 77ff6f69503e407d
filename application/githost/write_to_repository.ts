import { Failure } from "../../domain/failure.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { preferred } from "./reach_repository.ts";
import { notConnected, usableSources, type UsableSourcesPorts } from "./usable_sources.ts";

/** Means that another source may be allowed what this one is not. */
const REFUSALS: ReadonlySet<string> = new Set([
  "githost_login_expired",
  "githost_not_configured",
  "githost_refused",
  "repository_not_found",
]);
/** Means that no source can do it. */
const MISSING: ReadonlySet<string> = new Set(["commit_not_found", "pull_request_not_found"]);

/** What was written, or why nothing was. */
export type Written<T> = { readonly value: T } | { readonly refusal: Failure };

/**
 * Writes to a repository through the first source of an organization that may do it. Returns why none may, or that there
 * is nothing to write to; rejects if the git host fails.
 */
export function writeToRepository(ports: UsableSourcesPorts) {
  const findSources = usableSources(ports);
  return async function <T>(
    organizationId: string,
    name: RepositoryName,
    write: (access: HostAccess) => Promise<T>,
    signal: AbortSignal,
  ): Promise<Written<T>> {
    let refusal: Failure | undefined;
    const sources = await findSources({ organizationId, userId: null }, signal);
    for (const { access, account } of preferred(sources, name)) {
      if (account && account.login.toLowerCase() !== name.owner.toLowerCase()) continue;
      try {
        return { value: await write(access) };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (MISSING.has(error.code)) return { refusal: error };
        if (!REFUSALS.has(error.code)) throw error;
        refusal ??= error;
      }
    }
    return { refusal: refusal ?? notConnected() };
  };
}
