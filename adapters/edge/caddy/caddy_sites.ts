import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import { siteName } from "./caddy_routes.ts";

/** For how long a former site is still served to requests that Caddy has taken by a former configuration. */
const KEEP_MS = 10_000;

/** The static sites that Caddy asks this process for, each under a host name of its own. */
export class CaddySites {
  #current: readonly EdgeRoute[] = [];
  #former: readonly { readonly site: EdgeRoute; readonly until: number }[] = [];

  /** Everything to serve while Caddy takes these routes: their sites, the current ones, and former ones for a while. */
  with(routes: readonly EdgeRoute[]): readonly EdgeRoute[] {
    const recent = this.#former.filter(({ until }) => until > performance.now()).map(({ site }) => site);
    const all = [...sitesOf(routes), ...this.#current, ...recent];
    return [...new Map(all.map((site) => [JSON.stringify([site.hostname, site.pathPrefix]), site])).values()];
  }

  /** Notes that Caddy has these routes now. */
  served(routes: readonly EdgeRoute[]): void {
    const now = performance.now();
    const left = this.#current.map((site) => ({ site, until: now + KEEP_MS }));
    this.#former = [...this.#former.filter(({ until }) => until > now), ...left];
    this.#current = sitesOf(routes);
  }
}

function sitesOf(routes: readonly EdgeRoute[]): readonly EdgeRoute[] {
  const folders = routes.filter(({ target }) => target.kind === "folder");
  return folders.map((route) => ({ ...route, hostname: siteName(route), projectId: siteName(route) }));
}
