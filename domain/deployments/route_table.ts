/** What a table needs to know of a route. */
export interface Routed {
  readonly hostname: string;
  readonly pathPrefix: string;
}

interface Entry<R> {
  readonly prefix: string;
  readonly route: R;
}

/** Finds the route of a request by host and by the longest path prefix that ends at a segment's border. */
export class RouteTable<R extends Routed> {
  #hosts = new Map<string, readonly Entry<R>[]>();
  #owners = new Map<string, readonly R[]>();

  /** `host` may carry a port and any case; `path` is without its query. */
  find(host: string, path: string): R | undefined {
    const entries = this.#hosts.get(host) ?? this.#hosts.get(bareHost(host));
    if (entries) for (const { prefix, route } of entries) if (covers(prefix, path)) return route;
    return undefined;
  }

  /** Replaces all routes of one owner; of equal routes of two owners the one that came last counts. */
  replace(owner: string, routes: readonly R[]): void {
    const former = this.#owners.get(owner) ?? [];
    if (routes.length === 0) this.#owners.delete(owner);
    else this.#owners.set(owner, [...routes]);
    const gone = new Set(former);
    const byHost = Map.groupBy(routes, (route) => bareHost(route.hostname));
    for (const hostname of new Set([...former, ...routes].map((route) => bareHost(route.hostname)))) {
      const others = (this.#hosts.get(hostname) ?? []).filter(({ route }) => !gone.has(route));
      const own = byHost.get(hostname) ?? [];
      const entries = [...own.map((route) => ({ prefix: barePrefix(route.pathPrefix), route })), ...others];
      if (entries.length === 0) this.#hosts.delete(hostname);
      else
        this.#hosts.set(
          hostname,
          entries.toSorted((a, b) => b.prefix.length - a.prefix.length),
        );
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#hosts = new Map();
    this.#owners = new Map();
  }

  /** All routes there are. */
  all(): readonly R[] {
    return [...this.#owners.values()].flat();
  }
}

/** Lower case, without port and without the dot of a fully qualified name. */
function bareHost(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}

/** "/api/" and "/api" are one prefix; the empty one covers everything. */
function barePrefix(prefix: string): string {
  return prefix.replace(/\/+$/, "");
}

function covers(prefix: string, path: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || prefix === "" || path[prefix.length] === "/");
}
