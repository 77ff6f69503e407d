/** The part of a route that the table uses. */
export interface Routed {
  readonly hostname: string;
  readonly pathPrefix: string;
}

/** A route of a host, and its path prefix without a slash at the end. */
export interface HostEntry<R> {
  readonly prefix: string;
  readonly route: R;
}

/** Finds the route of a request by host and by the longest path prefix that ends at a segment boundary. */
export class RouteTable<R extends Routed> {
  #hosts = new Map<string, readonly HostEntry<R>[]>();
  #owners = new Map<string, readonly R[]>();

  /** `host` may have a port and any case; `path` has no query string. */
  find(host: string, path: string): R | undefined {
    const entries = this.#hosts.get(host) ?? this.#hosts.get(bareHost(host));
    if (entries) for (const { prefix, route } of entries) if (covers(prefix, path)) return route;
    return undefined;
  }

  /** Replaces all routes of one owner; if two owners have equal routes, the last one set wins. */
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

  /** Removes all routes. */
  clear(): void {
    this.#hosts = new Map();
    this.#owners = new Map();
  }

  /** Returns the routes of each host in the order in which they are tried. */
  hosts(): Iterable<readonly [string, readonly HostEntry<R>[]]> {
    return this.#hosts;
  }

  /** Returns all routes. */
  all(): readonly R[] {
    return [...this.#owners.values()].flat();
  }
}

/** Returns the host in lower case, without port and without the trailing dot of a fully qualified name. */
export function bareHost(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}

/** "/api/" and "/api" are the same prefix; the empty one matches everything. */
function barePrefix(prefix: string): string {
  return prefix.replace(/\/+$/, "");
}

function covers(prefix: string, path: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || prefix === "" || path[prefix.length] === "/");
}
