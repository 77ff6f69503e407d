import type { MemoryRepository } from "../../../../adapters/memory/git_host_data.ts";
import { Secret } from "../../../../domain/secret.ts";
import { userOf } from "./account_routes.ts";
import { HostAnswer } from "./host_answer.ts";
import { demand, type HostCaller, owns } from "./host_caller.ts";
import { type HostRequest, type HostRoute, paged, repositoryOf } from "./host_route.ts";
import { repositoryShape, type Schemas } from "./host_shapes.ts";

/** The routes of repositories, their branches and their webhooks. */
export const REPOSITORY_ROUTES: readonly HostRoute[] = [
  { route: "GET /repos/:owner/:repo", handle: find },
  { route: "DELETE /repos/:owner/:repo", handle: remove },
  { route: "POST /user/repos", handle: createForUser },
  { route: "POST /orgs/:org/repos", handle: createForOrganization },
  { route: "GET /repos/:owner/:repo/branches", handle: branches },
  { route: "GET /repos/:owner/:repo/branches/:branch*", handle: branch },
  { route: "GET /repos/:owner/:repo/hooks", handle: hooks },
  { route: "POST /repos/:owner/:repo/hooks", handle: createHook },
  { route: "PATCH /repos/:owner/:repo/hooks/:id", handle: changeHook },
  { route: "DELETE /repos/:owner/:repo/hooks/:id", handle: removeHook },
];

function find(request: HostRequest): Response {
  const { state, api } = request;
  const found = repositoryOf(request);
  const shape = repositoryShape(state, found, api);
  const full: Schemas["full-repository"] = {
    ...shape,
    pushed_at: shape.pushed_at ?? "",
    has_discussions: false,
    subscribers_count: 0,
    network_count: 0,
  };
  return Response.json(full);
}

function remove(request: HostRequest): Response {
  const { state, caller } = request;
  const found = repositoryOf(request);
  demand(caller, "administration", "write");
  if (!mayManage(request, found, ["delete_repo"])) throw HostAnswer.error(403, "Must have admin rights to Repository.");
  state.repositories.delete(found.repository.fullName.toLowerCase());
  return new Response(null, { status: 204 });
}

function createForUser(request: HostRequest): Response {
  return create(request, userOf(request.caller).login);
}

function createForOrganization(request: HostRequest): Response {
  const { state, caller, parameters } = request;
  const organization = state.accounts.get(parameters["org"]!.toLowerCase());
  if (organization?.type !== "Organization") throw HostAnswer.notFound();
  if (caller.kind === "installation") {
    demand(caller, "administration", "write");
    if (state.installation(caller.access.installationId).account.login !== organization.login)
      throw HostAnswer.error(403, "Resource not accessible by integration");
  } else if (state.role(organization.login, userOf(caller).login) === undefined) {
    throw HostAnswer.error(403, "You need admin access to the organization before adding a repository to it.");
  }
  return create(request, organization.login);
}

function create({ state, body, api }: HostRequest, owner: string): Response {
  const name = String(body["name"] ?? "");
  if (!/^[\w.-]{1,100}$/.test(name)) throw HostAnswer.invalid("Repository", "name", "name is too short or not valid");
  if (state.repositories.has(`${owner}/${name}`.toLowerCase()))
    throw HostAnswer.invalid("Repository", "name", "name already exists on this account");
  const first = body["auto_init"] === true ? { main: { "README.md": `# ${name}\n` } } : {};
  state.addRepository({ owner, name, private: body["private"] === true, branches: first });
  const created = state.repositories.get(`${owner}/${name}`.toLowerCase())!;
  return Response.json(repositoryShape(state, created, api), { status: 201 });
}

function branches(request: HostRequest): Response {
  const found = repositoryOf(request);
  demand(request.caller, "contents", "read");
  const all = [...found.branches].map(([name]) => name).sort();
  return paged(request, all, (page) => page.map((name) => branchShape(request, found, name)));
}

function branch(request: HostRequest): Response {
  const found = repositoryOf(request);
  demand(request.caller, "contents", "read");
  const name = request.parameters["branch"]!;
  if (!found.branches.has(name)) throw HostAnswer.notFound("Branch not found");
  return Response.json(branchShape(request, found, name));
}

function branchShape({ api }: HostRequest, found: MemoryRepository, name: string): Schemas["short-branch"] {
  const { sha, protected: isProtected } = found.branches.get(name)!;
  return {
    name,
    commit: { sha, url: `${api}/repos/${found.repository.fullName}/commits/${sha}` },
    protected: isProtected,
  };
}

/** Returns the webhooks of a repository. Those who may not manage them do not learn whether it has any. */
function hooksOf(request: HostRequest): MemoryRepository {
  const found = repositoryOf(request);
  demand(request.caller, "repository_hooks", "write");
  if (!mayManage(request, found, ["admin:repo_hook", "repo"])) throw HostAnswer.notFound();
  return found;
}

function hooks(request: HostRequest): Response {
  const found = hooksOf(request);
  return paged(request, [...found.hooks.keys()], (page) => page.map((id) => hookShape(request, found, id)));
}

function createHook(request: HostRequest): Response {
  const found = hooksOf(request);
  const { url } = configOf(request);
  if ([...found.hooks.values()].some((hook) => hook.url === url))
    throw HostAnswer.error(422, "Validation Failed", [
      { resource: "Hook", code: "custom", message: "Hook already exists on this repository" },
    ]);
  const id = request.state.number();
  putHook(request, found, id);
  return Response.json(hookShape(request, found, id), { status: 201 });
}

function changeHook(request: HostRequest): Response {
  const found = hooksOf(request);
  const id = Number(request.parameters["id"]);
  if (!found.hooks.has(id)) throw HostAnswer.notFound();
  putHook(request, found, id);
  return Response.json(hookShape(request, found, id));
}

function removeHook(request: HostRequest): Response {
  const found = hooksOf(request);
  if (!found.hooks.delete(Number(request.parameters["id"]))) throw HostAnswer.notFound();
  return new Response(null, { status: 204 });
}

function putHook(request: HostRequest, found: MemoryRepository, id: number): void {
  const { url, secret } = configOf(request);
  const events = request.body["events"] as string[];
  const active = request.body["active"] === true;
  found.hooks.set(id, { id, url, events, active, settings: { url, events, secret: new Secret(secret) } });
}

function configOf({ body }: HostRequest): { readonly url: string; readonly secret: string } {
  const config = (body["config"] ?? {}) as Record<string, unknown>;
  const { url, secret, content_type: contentType } = config;
  if (typeof url !== "string" || !URL.canParse(url)) throw HostAnswer.invalid("Hook", "url", "url is missing");
  if (contentType !== "json") throw HostAnswer.invalid("Hook", "content_type", "Slipway reads JSON only");
  return { url, secret: typeof secret === "string" ? secret : "" };
}

function hookShape({ api }: HostRequest, found: MemoryRepository, id: number): Schemas["hook"] {
  const { url, events, active } = found.hooks.get(id)!;
  const at = new Date(0).toISOString();
  const self = `${api}/repos/${found.repository.fullName}/hooks/${id}`;
  return {
    type: "Repository",
    id,
    name: "web",
    active,
    events: [...events],
    config: { url, content_type: "json", insecure_ssl: "0", secret: "********" },
    updated_at: at,
    created_at: at,
    url: self,
    test_url: `${self}/test`,
    ping_url: `${self}/pings`,
    last_response: { code: null, status: "unused", message: null },
  };
}

function mayManage({ state, caller }: HostRequest, found: MemoryRepository, scopes: readonly string[]): boolean {
  return isIdentified(caller) && owns(state, caller, found) && state.mayManage(caller.access, found.repository, scopes);
}

function isIdentified(caller: HostCaller): caller is HostCaller & { readonly kind: "user" | "installation" } {
  return caller.kind === "user" || caller.kind === "installation";
}
