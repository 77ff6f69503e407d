import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { Edge } from "../../ports/domains/edge.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import { namesReadAhead, routesTo, type ServePorts } from "../services/service_routes.ts";

export interface FollowLiveReleasesPorts extends ServePorts {
  readonly edge: Edge;
  readonly liveReleases: LiveReleases;
}

export interface FollowLiveReleasesOptions {
  readonly baseDomain: string;
  /** Resolves to the keys of the edge's initial routes; no change is followed before. */
  readonly loaded?: Promise<Iterable<string>>;
}

/**
 * Keeps this process's edge in sync with the live releases, whichever process changed them. Applies changes one at a
 * time, so that the last one wins. Resolves to `false` if the release of the key is gone, so that something of it may be
 * left: not for a project that exists and never served.
 */
export function followLiveReleases(ports: FollowLiveReleasesPorts, options: FollowLiveReleasesOptions) {
  const { edge, liveReleases } = ports;
  const { baseDomain, loaded = Promise.resolve([]) } = options;
  const known = new Set<string>();
  let last: Promise<unknown> = loaded.then((keys) => Iterator.from(keys).forEach((key) => known.add(key)));
  return function (key: string | null): Promise<boolean> {
    const turn = last.then(() => (key === null ? followAll() : follow(key)));
    last = turn.catch(() => {});
    return turn;
  };

  async function follow(key: string): Promise<boolean> {
    const live = await liveReleases.find(key);
    const wasKnown = known.delete(key);
    if (live) known.add(key);
    await edge.switch(key, live ? await routesTo(ports, live.project, live.deployment, baseDomain) : []);
    // Every project has a name, and a new one reports it.
    return live !== undefined || (!wasKnown && (await ports.domains.ofProjects([key])).length > 0);
  }

  /** The changed key is unknown, so every release is checked, including those that were live before. */
  async function followAll(): Promise<boolean> {
    const releases = await liveReleases.list();
    const keys = new Set(releases.map(({ deployment }) => scopeOf(deployment)));
    for (const key of known.difference(keys)) await edge.switch(key, []);
    known.clear();
    const projectIds = releases.map(({ project }) => project.id);
    const ahead = { ...ports, domains: await namesReadAhead(ports.domains, projectIds) };
    const failures: unknown[] = [];
    for (const { project, deployment } of releases) {
      known.add(scopeOf(deployment));
      try {
        await edge.switch(scopeOf(deployment), await routesTo(ahead, project, deployment, baseDomain));
      } catch (error) {
        // While an engine is down, releases that run without it are still routed.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return true;
  }
}
