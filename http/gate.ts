import type { TSchema } from "@sinclair/typebox";

import type { Credential } from "../application/identity/identify_caller.ts";
import type { AuditTrail } from "../application/system/audit_trail.ts";
import { isAnyId } from "../domain/id.ts";
import { isGitName } from "../domain/projects/project.ts";
import {
  allowsSomewhere,
  forbidden,
  type Principal,
  refuseLink,
  unauthenticated,
} from "../domain/identity/permission.ts";
import { fingerprint } from "../domain/identity/token.ts";
import { admit, type Caller, declaredRoutes, type DeclaredRoute } from "./access.ts";
import { audited } from "./audit_trail.ts";
import { changedNames } from "./changed_names.ts";
import { clientAddress } from "./client_address.ts";
import { type Forward, isAboutDeployment, orFromCloud } from "./cloud/forward.ts";
import { checkOrigin, readCredential } from "./credentials.ts";
import { loggedPath } from "./logged_path.ts";
import type { Metrics } from "./metrics.ts";
import { type AnswerOnce, BodyDigest, callerOf, holderOf, runOnce } from "./once.ts";
import { BROKEN_OFF, problem, problemOf } from "./problems.ts";
import { checkQueryText } from "./query_text.ts";
import { keepBody, NotJson, readJson } from "./request_body.ts";
import { routeTable } from "./route_table.ts";

/** Dependencies of the gate. */
export interface GateOptions {
  readonly identify: (credential: Credential) => Promise<Principal>;
  readonly answerOnce: AnswerOnce;
  readonly audit: AuditTrail;
  readonly metrics: Metrics;
  readonly publicOrigin: string;
  readonly trustedProxies: readonly string[];
  readonly report: (error: unknown, requestId: string) => void;
  /** Forwards requests about deployments that are not here to the hosted cloud. */
  readonly forward: Forward;
  /** `isRoutine`: the request succeeded, and its route is called all the time. */
  readonly logRequest: (line: RequestLine, isRoutine: boolean) => void;
}

/** The log line of one request. */
export type RequestLine = {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly address: string;
  readonly userId: string | undefined;
  readonly credentialId: string | undefined;
};

interface Handled {
  readonly routes: Parameters<typeof declaredRoutes>[0]["routes"];
  fetch(request: Request): Response | Promise<Response>;
}

/** Handles a request. The response to a request that waits for nothing is returned at once, which is cheaper. */
export type Gate = (request: Request, peer: string) => Response | Promise<Response>;

interface Visit {
  readonly request: Request;
  readonly route: DeclaredRoute;
  readonly path: string;
  readonly query: string;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
}

/** Facts about a request, for its log line. */
interface Seen {
  readonly requestId: string;
  path: string;
  address: string;
  route?: DeclaredRoute | undefined;
  principal?: Principal | undefined;
}

const UNKNOWN = { method: "unknown", path: "unknown" };
const CHANGING = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Handles every request. Before anything else is read it matches the route, authenticates the caller and checks the
 * permission; then it handles the body, the idempotency key and the audit log; only then the route runs.
 */
export function gate(app: Handled, options: GateOptions): Gate {
  const match = routeTable(declaredRoutes(app));
  const underTls = options.publicOrigin.startsWith("https:");

  return function (request, peer) {
    const started = performance.now();
    options.metrics.begin();
    const seen: Seen = { requestId: requestIdOf(request), path: "unknown", address: peer };
    const end = (response: Response) => finished(request, response, seen, performance.now() - started);
    const fail = (error: unknown) => end(failed(request, error, seen));
    try {
      const response = answer(request, peer, seen);
      return response instanceof Promise ? response.then(end, fail) : end(response);
    } catch (error) {
      return fail(error);
    }
  };

  function failed(request: Request, error: unknown, { requestId }: Seen): Response {
    if (error instanceof NotJson) return notJson();
    return problemOf(error, request.signal, (bug) => options.report(bug, requestId));
  }

  function finished(request: Request, response: Response, seen: Seen, ms: number): Response {
    const { headers } = response;
    headers.set("x-request-id", seen.requestId);
    headers.set("x-content-type-options", "nosniff");
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
    // An error because the client disconnected is no failure of the server.
    const status = response.status >= 400 && request.signal.aborted ? BROKEN_OFF : response.status;
    options.metrics.end(seen.route ?? UNKNOWN, status, ms / 1000);
    const line = {
      requestId: seen.requestId,
      method: request.method,
      path: seen.path,
      status,
      ms: Math.round(ms * 100) / 100,
      address: seen.address,
      userId: seen.principal?.userId,
      credentialId: seen.principal?.credential.id,
    };
    options.logRequest(line, status < 400 && seen.route?.operation.routine === true);
    if (request.method !== "HEAD") return response;
    void response.body?.cancel();
    return new Response(null, { status: response.status, headers });
  }

  function answer(request: Request, peer: string, seen: Seen): Response | Promise<Response> {
    const { path, query } = placeOf(request.url);
    const matched = match(request.method === "HEAD" ? "GET" : request.method, path);
    seen.path = loggedPath(path, matched);
    seen.route = matched.found;
    const { address, secure } = clientAddress(request, peer, options.trustedProxies);
    seen.address = address;
    if (!matched.found) return unrouted(matched.allowed);
    const { found: route, params } = matched;
    const { permission } = route;
    const pass = (principal: Principal | undefined) => {
      seen.principal = principal;
      const caller = { principal, permission, address, secure: secure || underTls, requestId: seen.requestId };
      return visit({ request, route, path, query, params, caller }, app, options);
    };
    return permission === undefined ? pass(undefined) : identified(request, options.identify).then(pass);
  }
}

/** Authenticates a request by its credential. Refuses a request without one. */
export async function identified(request: Request, identify: GateOptions["identify"]): Promise<Principal> {
  const credential = readCredential(request);
  if (!credential) throw unauthenticated();
  return identify(credential);
}

/** Refuses a change that may be a cross-site request, and an authenticated caller without the permission. */
function checkAllowed({ request, route, caller: { principal } }: Visit, publicOrigin: string): void {
  const { permission, operation } = route;
  // Open routes too: a page of another site must not log a browser in, or accept anything on the user's behalf.
  const byBrowser = principal ? principal.credential.kind === "session" : request.headers.has("origin");
  if (byBrowser && CHANGING.has(request.method)) checkOrigin(request, publicOrigin);
  if (!principal || !permission) return;
  if (!operation.forLinkTokens) refuseLink(principal, permission);
  if (permission !== "self" && !allowsSomewhere(principal, permission)) throw forbidden(permission);
}

function visit(visited: Visit, app: Handled, options: GateOptions): Response | Promise<Response> {
  const { request, caller } = visited;
  const changes = CHANGING.has(request.method);
  try {
    checkAllowed(visited, options.publicOrigin);
  } catch (refusal) {
    if (!changes) throw refusal;
    const report = (bug: unknown) => options.report(bug, caller.requestId);
    return recorded(visited, options, async () => problemOf(refusal, request.signal, report));
  }
  if (changes) return makeChange(visited, app, options);
  if (visited.query !== "") {
    const { query } = visited.route.hooks as { query?: { properties?: object } };
    checkQueryText(visited.query, Object.keys(query?.properties ?? {}));
  }
  const reached = isPlain(visited) ? request : innerRequest(visited, { method: "GET" });
  admit(reached, caller);
  return reach(visited, reached, { app, options });
}

/** Lets a route answer. What it does not find here may be in the cloud. */
function reach(
  visited: Visit,
  reached: Request,
  { app, options, body }: { readonly app: Handled; readonly options: GateOptions; readonly body?: Uint8Array },
): Response | Promise<Response> {
  const { request, route } = visited;
  if (!isAboutDeployment(route)) return app.fetch(reached);
  const identify = () => identified(request, options.identify);
  return orFromCloud(() => app.fetch(reached), { ...visited, reached, body, identify }, options.forward);
}

/** The length of the shortest origin after which Elysia looks for the path. */
const ORIGIN_LENGTH = 11;

/** Returns whether Elysia finds in a request exactly the path and the method that were checked here. */
function isPlain({ request, path, query }: Visit): boolean {
  const { url, method } = request;
  const rest = path + query;
  return method === "GET" && url.endsWith(rest) && url.indexOf("/", ORIGIN_LENGTH) === url.length - rest.length;
}

/** Builds a request with the path that was checked here, for Elysia. */
function innerRequest({ request, path, query }: Visit, init: RequestInit): Request {
  const { headers, signal } = request;
  return new Request(`http://localhost${path}${query}`, { headers, signal, ...init });
}

async function makeChange(visited: Visit, app: Handled, options: GateOptions): Promise<Response> {
  const { request, route, caller } = visited;
  const json = route.operation.streams ? undefined : await readJson(request);
  const key = route.operation.unrepeatable ? null : request.headers.get("idempotency-key");
  const digest = key !== null && !json && request.body ? new BodyDigest(request.body) : undefined;
  const body = json ? null : (digest?.stream ?? request.body);
  const reached = innerRequest(visited, { method: request.method, body });
  const run = async () => {
    admit(reached, caller);
    const { precheck } = route.operation;
    if (json) keepBody(reached, { value: json.value, schema: (route.hooks as { body?: TSchema }).body, precheck });
    const { bytes: sent } = json ?? {};
    const answer = async () => reach(visited, reached, { app, options, ...(sent?.length && { body: sent }) });
    return recorded(visited, options, answer, json?.value);
  };
  const { principal } = caller;
  const who = principal ? callerOf(principal) : holderOf(route.operation, json?.value);
  if (key === null || who === undefined) return run();
  // Stores a hash: a path may contain anything, even a secret.
  const routeKey = `${request.method} ${route.path} ${fingerprint(visited.path + visited.query)}`;
  const { operation } = route;
  const keyed = { key, route: routeKey, caller: who, keepsRefusals: principal !== undefined, operation };
  return runOnce(options.answerOnce, { ...keyed, body: json?.bytes, signal: request.signal }, digest, run);
}

/** Runs a change and records it in the audit log, unless its route is unaudited. */
function recorded(
  { route, params, query, caller }: Visit,
  { audit }: GateOptions,
  run: () => Promise<Response>,
  body?: object,
): Promise<Response> {
  const { name, unaudited, changes } = route.operation;
  const { body: schema } = route.hooks as { body?: TSchema };
  // A target that does not look like an id is made up, or a secret in the wrong place.
  const target = [params["id"] ?? "", ...Object.values(params)].find(isAnyId) ?? repositoryOf(params);
  const changed = changedNames(body, { schema, changes, query });
  const change = { action: name, target, changed };
  return unaudited ? run() : audited(audit, caller, change, run);
}

/** Returns the repository that a path names, if its names can be some. */
function repositoryOf({ owner, repo }: Readonly<Record<string, string>>): string | null {
  if (owner === undefined || repo === undefined) return null;
  return isGitName(owner) && isGitName(repo) ? `${owner}/${repo}` : null;
}

function unrouted(allowed: readonly string[]): Response {
  if (allowed.length === 0) {
    const error = "Cannot find this route: GET /api/docs lists all routes";
    return problem(404, { error, code: "route_not_found" });
  }
  const allow = allowed.join(", ").replace("GET", "GET, HEAD");
  return problem(405, { error: `Cannot use this method here: use ${allow}`, code: "method_not_allowed" }, { allow });
}

function notJson(): Response {
  return problem(415, {
    error: "Cannot read the body: send JSON with the header Content-Type: application/json",
    code: "not_json",
  });
}

function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  if (given !== null && /^[\w.-]{8,64}$/.test(given)) return given;
  return crypto.randomUUID();
}

/** Splits a URL into the path without a trailing slash, as in the route table, and the query with its question mark. */
function placeOf(address: string): { readonly path: string; readonly query: string } {
  // When the Host header names no host, the URL is only a path, as it was sent.
  const url = address.startsWith("/") ? new URL(`http://localhost${address}`).href : address;
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  const path = url.slice(start, end < 0 ? undefined : end);
  const bare = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return { path: bare, query: end < 0 ? "" : url.slice(end) };
}
