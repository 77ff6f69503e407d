import type { EdgeRoute } from "../../ports/domains/edge.ts";

/**
 * Returns the routes of a starting server, which may not know yet what still runs: until then, routes in state `starting`
 * keep the target that they have in an edge which is already serving.
 */
export function keptWhereStarting(served: readonly EdgeRoute[], routes: readonly EdgeRoute[]): readonly EdgeRoute[] {
  const known = new Map(served.map((route) => [placeOf(route), route]));
  return routes.map((route) => (route.target.kind === "starting" ? (known.get(placeOf(route)) ?? route) : route));
}

function placeOf({ hostname, pathPrefix, projectId }: EdgeRoute): string {
  return JSON.stringify([hostname, pathPrefix, projectId]);
}
