import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import { dialOf } from "./caddy_routes.ts";

interface Upstream {
  readonly dials: ReadonlySet<string>;
  /** When Caddy has confirmed that no route leads to it any more. */
  readonly leftAt: number | undefined;
}

/** Requests that take longer than this are no longer counted once their app has no route. */
const KEEP_MS = 600_000;
/**
 * Over HTTP/2, Caddy accepts requests on open connections by the former configuration for a second after it has confirmed
 * the next one.
 */
const SETTLE_MS = 1_250;

/** The addresses that Caddy proxies to, and those that it did until recently. */
export class CaddyUpstreams {
  readonly #known = new Map<string, Upstream>();

  /** The addresses that would have no route any more, while requests to them may be running. */
  retiredBy(routes: readonly EdgeRoute[]): readonly string[] {
    const served = new Set(routes.flatMap(dialsOf));
    const known = [...this.#known.values()].filter(isRecent).flatMap(({ dials }) => [...dials]);
    return [...new Set(known)].filter((dial) => !served.has(dial));
  }

  /** Notes that Caddy serves these routes now. */
  served(routes: readonly EdgeRoute[]): void {
    const now = performance.now();
    const current = Map.groupBy(routes, ({ servedBy }) => servedBy);
    for (const [servedBy, { dials, leftAt = now }] of this.#known) {
      if (leftAt + KEEP_MS <= now) this.#known.delete(servedBy);
      else this.#known.set(servedBy, { dials, leftAt });
    }
    for (const [servedBy, own] of current) {
      const dials = new Set(own.flatMap(dialsOf));
      if (dials.size > 0) this.#known.set(servedBy, { dials, leftAt: undefined });
    }
  }

  /** The addresses of an app, and for how many milliseconds it may still get requests although no route leads to it. */
  of(servedBy: string): { readonly dials: ReadonlySet<string>; readonly settleMs: number } {
    const { dials = new Set<string>(), leftAt } = this.#known.get(servedBy) ?? {};
    const settleMs = leftAt === undefined ? 0 : Math.max(0, leftAt + SETTLE_MS - performance.now());
    return { dials, settleMs };
  }
}

function isRecent({ leftAt }: Upstream): boolean {
  return leftAt === undefined || leftAt + KEEP_MS > performance.now();
}

function dialsOf({ target }: EdgeRoute): readonly string[] {
  return target.kind === "address" ? [dialOf(target)] : [];
}
