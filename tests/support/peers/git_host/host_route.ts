import type { MemoryRepository } from "../../../../adapters/memory/git_host_data.ts";
import type { EmulatedHostState } from "./emulated_host_state.ts";
import { HostAnswer } from "./host_answer.ts";
import { type HostCaller, sees } from "./host_caller.ts";

/** A request to the API of the emulated host. */
export interface HostRequest {
  readonly state: EmulatedHostState;
  readonly caller: HostCaller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly url: URL;
  /** The address of the API, for links. */
  readonly api: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A route of the API: `GET /repos/:owner/:repo`; a last parameter with `*` takes the rest of the path. */
export interface HostRoute {
  readonly route: string;
  handle(request: HostRequest): Response | Promise<Response>;
}

/** Returns the route for a request, and its parameters. */
export function matchRoute(
  routes: readonly HostRoute[],
  method: string,
  path: string,
): { readonly route: HostRoute; readonly parameters: Record<string, string> } | undefined {
  for (const route of routes) {
    const [verb, pattern = ""] = route.route.split(" ");
    if (verb !== method) continue;
    const expression = pattern.replaceAll(/:(\w+)(\*?)/g, (_, name: string, rest: string) =>
      rest ? `(?<${name}>.*)` : `(?<${name}>[^/]+)`,
    );
    const found = new RegExp(`^${expression}/?$`).exec(path);
    if (!found) continue;
    const parameters = Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { route, parameters: Object.fromEntries(parameters) as Record<string, string> };
  }
  return undefined;
}

/** Returns one page of a list, with links to the others. */
export function paged<T>({ url, api }: HostRequest, items: readonly T[], wrap: (page: T[]) => unknown): Response {
  const number = (name: string, otherwise: number) =>
    Number.parseInt(url.searchParams.get(name) ?? "", 10) || otherwise;
  const perPage = Math.min(Math.max(number("per_page", 30), 1), 100);
  const page = Math.max(number("page", 1), 1);
  const last = Math.max(Math.ceil(items.length / perPage), 1);
  const link = (target: number, rel: string) => {
    const address = new URL(api + url.pathname.replace(/^\/api\/v3/, ""));
    for (const [name, value] of url.searchParams) address.searchParams.set(name, value);
    address.searchParams.set("page", `${target}`);
    return `<${address}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [link(page - 1, "prev")] : []),
    ...(page < last ? [link(page + 1, "next"), link(last, "last")] : []),
    ...(page > 1 ? [link(1, "first")] : []),
  ];
  const headers: Record<string, string> = links.length > 0 ? { link: links.join(", ") } : {};
  return Response.json(wrap(items.slice((page - 1) * perPage, page * perPage)), { headers });
}

/** Returns the repository of a route, if the caller sees it. */
export function repositoryOf(request: HostRequest): MemoryRepository {
  const { state, caller, parameters, api } = request;
  const name = `${parameters["owner"]}/${parameters["repo"]}`.toLowerCase();
  const found = state.repositories.get(name);
  if (found && sees(state, caller, found)) return found;
  const renamed = state.formerNames.get(name);
  const target = [...state.repositories.values()].find(({ repository }) => repository.id === renamed);
  if (!target || !sees(state, caller, target)) throw HostAnswer.notFound();
  const rest = request.url.pathname.replace(/^(?:\/api\/v3)?\/repos\/[^/]+\/[^/]+/, "");
  const location = `${api}/repositories/${target.repository.id}${rest}${request.url.search}`;
  throw new HostAnswer(Response.json({ message: "Moved Permanently" }, { status: 301, headers: { location } }));
}
