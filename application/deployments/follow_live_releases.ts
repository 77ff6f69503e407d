import type { Edge } from "../../ports/edge.ts";
import type { LiveReleases } from "../../ports/live_releases.ts";
import { routeKey, routesTo, type ServePorts } from "./engine/serve.ts";

export interface FollowLiveReleasesPorts extends ServePorts {
  readonly edge: Edge;
  readonly liveReleases: LiveReleases;
}

/** Keeps this process's edge at what is live, whichever process changed it; one change after the other, so that the last one counts. Resolves to whether what is named still serves. */
export function followLiveReleases(ports: FollowLiveReleasesPorts, { baseDomain }: { readonly baseDomain: string }) {
  const { edge, liveReleases } = ports;
  const known = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  return function (key: string | null): Promise<boolean> {
    const turn = last.then(() => (key === null ? followAll() : follow(key)));
    last = turn.catch(() => {});
    return turn;
  };

  async function follow(key: string): Promise<boolean> {
    const live = await liveReleases.find(key);
    if (live) known.add(key);
    else known.delete(key);
    await edge.switch(key, live ? await routesTo(ports, live.project, live.deployment, baseDomain) : []);
    return live !== undefined;
  }

  /** Nobody may have told what changed: everything is looked at, also what was live before. */
  async function followAll(): Promise<boolean> {
    const releases = await liveReleases.list();
    const keys = new Set(releases.map(({ deployment }) => routeKey(deployment)));
    for (const key of known.difference(keys)) await edge.switch(key, []);
    known.clear();
    for (const { project, deployment } of releases) {
      known.add(routeKey(deployment));
      await edge.switch(routeKey(deployment), await routesTo(ports, project, deployment, baseDomain));
    }
    return true;
  }
}
