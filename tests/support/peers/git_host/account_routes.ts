import { HostAnswer } from "./host_answer.ts";
import { type HostCaller, owns } from "./host_caller.ts";
import { type HostRequest, type HostRoute, paged } from "./host_route.ts";
import { APP_PERMISSIONS } from "./emulated_host_state.ts";
import { installationShape, organizationShape, repositoryShape, type Schemas, userShape } from "./host_shapes.ts";

/** The routes of users, and of the app's installations. */
export const ACCOUNT_ROUTES: readonly HostRoute[] = [
  { route: "GET /user", handle: user },
  { route: "GET /user/orgs", handle: organizations },
  { route: "GET /user/repos", handle: repositories },
  { route: "GET /user/installations", handle: installationsOfUser },
  { route: "GET /installation/repositories", handle: installationRepositories },
  { route: "GET /app/installations/:id", handle: installation },
  { route: "POST /app/installations/:id/access_tokens", handle: accessToken },
];

/** Returns the calling user. Anonymous callers and the app itself are refused. */
export function userOf(caller: HostCaller): HostCaller & { readonly kind: "user" } {
  if (caller.kind === "user") return caller;
  if (caller.kind === "installation") throw HostAnswer.error(403, "Resource not accessible by integration");
  throw HostAnswer.error(401, "Requires authentication");
}

function user({ state, caller, api }: HostRequest): Response {
  const { login, scopes } = userOf(caller);
  const account = state.accounts.get(login.toLowerCase());
  if (!account) throw HostAnswer.notFound();
  const at = new Date(0).toISOString();
  const shape: Schemas["public-user"] = {
    ...userShape(account, api),
    name: null,
    company: null,
    blog: null,
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: at,
    updated_at: at,
  };
  const headers: Record<string, string> = scopes.length > 0 ? { "x-oauth-scopes": scopes.join(", ") } : {};
  return Response.json(shape, { headers });
}

function organizations(request: HostRequest): Response {
  const { state, caller, api } = request;
  const { login, scopes } = userOf(caller);
  if (scopes.length > 0 && !scopes.some((scope) => ["read:org", "admin:org", "user"].includes(scope)))
    return Response.json([]);
  const own = [...state.accounts.values()].filter((account) => state.role(account.login, login) !== undefined);
  return paged(request, own, (page) => page.map((account) => organizationShape(account, api)));
}

function repositories(request: HostRequest): Response {
  const { state, caller, api } = request;
  userOf(caller);
  const own = [...state.repositories.values()].filter((each) => owns(state, caller, each));
  own.sort((a, b) => (a.repository.fullName < b.repository.fullName ? -1 : 1));
  return paged(request, own, (page) => page.map((each) => repositoryShape(state, each, api)));
}

function installationsOfUser(request: HostRequest): Response {
  const { state, caller, api } = request;
  const { login, scopes } = userOf(caller);
  if (scopes.length > 0)
    throw HostAnswer.error(
      403,
      "You must authenticate with an access token authorized to a GitHub App in order to list installations",
    );
  const own = [...state.installations.values()].filter(
    ({ account }) => account.login === login || state.role(account.login, login) !== undefined,
  );
  return paged(request, own, (page) => ({
    total_count: own.length,
    installations: page.map(({ id }) => installationShape(state, id, api)),
  }));
}

function installationRepositories(request: HostRequest): Response {
  const { state, caller, api } = request;
  if (caller.kind !== "installation") throw HostAnswer.error(403, "You must authenticate with an installation token");
  const own = [...state.repositories.values()].filter((each) => owns(state, caller, each));
  const selection = state.installation(caller.access.installationId).repositories;
  return paged(request, own, (page) => ({
    total_count: own.length,
    repository_selection: selection === "all" ? "all" : "selected",
    repositories: page.map((each) => repositoryShape(state, each, api)),
  }));
}

function installation({ state, caller, parameters, api }: HostRequest): Response {
  if (caller.kind !== "app") throw HostAnswer.error(401, "A JSON web token could not be decoded");
  const id = Number(parameters["id"]);
  if (!state.installations.has(id)) throw HostAnswer.notFound();
  return Response.json(installationShape(state, id, api));
}

function accessToken({ state, caller, parameters, body }: HostRequest): Response {
  if (caller.kind !== "app") throw HostAnswer.error(401, "A JSON web token could not be decoded");
  const found = state.installations.get(Number(parameters["id"]));
  if (!found) throw HostAnswer.notFound();
  if (found.suspended) throw HostAnswer.error(403, "This installation has been suspended");
  const asked = (body["permissions"] ?? APP_PERMISSIONS) as Record<string, string>;
  const granted: Record<string, string> = APP_PERMISSIONS;
  const isGranted = ([name, level]: [string, string]) => granted[name] === "write" || granted[name] === level;
  if (!Object.entries(asked).every(isGranted))
    throw HostAnswer.error(422, "The permissions requested are not granted to this installation.");
  const repositoryIds = requestedIds(state, found.id, body);
  const permissions = { metadata: "read", ...asked };
  const token = `ghs_emulated${state.number()}${crypto.randomUUID().replaceAll("-", "")}`;
  const expiresAt = new Date(Date.now() + state.installationTokenSeconds * 1_000);
  state.installationTokens.set(token, { installationId: found.id, permissions, repositoryIds, expiresAt });
  const shape: Schemas["installation-token"] = {
    token,
    // The real host cuts fractions of seconds off.
    expires_at: expiresAt.toISOString().replace(/\.\d+Z$/, "Z"),
    permissions: permissions as Schemas["app-permissions"],
    repository_selection: repositoryIds === null && found.repositories === "all" ? "all" : "selected",
  };
  return Response.json(shape, { status: 201 });
}

/** Returns the ids of the repositories that a token is asked for; `null` for all of the installation. */
function requestedIds(
  state: HostRequest["state"],
  installationId: number,
  { repositories: names, repository_ids: ids }: HostRequest["body"],
): readonly number[] | null {
  if (names === undefined && ids === undefined) return null;
  const access = { kind: "installation", installationId } as const;
  const own = [...state.repositories.values()]
    .map((each) => each.repository)
    .filter((each) => state.isOwn(access, each));
  const asked = (names ?? ids) as readonly (string | number)[];
  return asked.map((wanted) => {
    const found = own.find(({ id, name }) => (typeof wanted === "number" ? id === wanted : name === wanted));
    if (found) return found.id;
    const reason =
      "There is at least one repository that does not exist or is not accessible to the parent installation.";
    throw HostAnswer.error(422, reason);
  });
}
