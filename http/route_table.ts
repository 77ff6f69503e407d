import { Memoirist } from "memoirist";
import type { DeclaredRoute } from "./access.ts";

/** The result of matching a path. */
export type Match =
  | { readonly found: DeclaredRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly found: undefined; readonly allowed: readonly string[] };

/** Builds a matcher from method and path to route. It runs before anything else of a request is read. */
export function routeTable(routes: readonly DeclaredRoute[]): (method: string, path: string) => Match {
  const tree = new Memoirist<DeclaredRoute>();
  for (const route of routes) tree.add(route.method, route.path, route);
  // Paths without parameters, which take precedence in the tree as well, are found faster in a map.
  const fixed = routes.filter(({ path }) => !/[:*]/.test(path));
  const direct = new Map(fixed.map((found) => [`${found.method} ${found.path}`, { found, params: {} }]));
  const methods = [...new Set(routes.map(({ method }) => method))];
  return function (method, path) {
    const known = direct.get(`${method} ${path}`);
    if (known) return known;
    const match = tree.find(method, path);
    if (!match) return { found: undefined, allowed: methods.filter((other) => tree.find(other, path)) };
    const params = decoded(match.params);
    // A parameter that does not decode matches nothing.
    return params ? { found: match.store, params } : { found: undefined, allowed: [] };
  };
}

function decoded(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  if (!Object.values(params).some((part) => part.includes("%"))) return params;
  try {
    return Object.fromEntries(Object.entries(params).map(([name, part]) => [name, decodeURIComponent(part)]));
  } catch {
    return undefined;
  }
}
