import type { DeploymentRequest, ForwardedResponse } from "../../application/cloud/forward_deployment.ts";
import { whileAllowed } from "../../application/deployments/while_allowed.ts";
import { Failure } from "../../domain/failure.ts";
import type { Permission, Principal } from "../../domain/identity/permission.ts";
import type { Caller, DeclaredRoute } from "../access.ts";
import { failureCode } from "../problems.ts";

const RECHECK_MS = 2_000;
/** How many streams of one member, and of all, are forwarded at a time. */
const MOST_OF_MEMBER = 32;
const MOST_OF_ALL = 128;

/** The number of forwarded streams by member. */
const streams = new Map<string, number>();

/** Forwards requests about deployments to the hosted cloud. */
export interface Forward {
  /** Returns whether a deployment was found in the cloud before. */
  readonly isKnown: (by: Principal, deploymentId: string) => boolean;
  /** Forwards a request; `undefined` if the deployment is not in the cloud. */
  readonly send: (by: Principal, request: DeploymentRequest) => Promise<ForwardedResponse | undefined>;
}

/** A request about one deployment, which a route of this installation can answer. */
export interface AskedHere {
  readonly request: Request;
  /** The request as the route got it. */
  readonly reached: Request;
  readonly route: DeclaredRoute;
  /** The path and the query that were checked. */
  readonly path: string;
  readonly query: string;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly body: Uint8Array | undefined;
  /** Authenticates the caller, as of now. */
  readonly identify: () => Promise<Principal>;
}

/** Returns whether a route is about one deployment, which may be in the cloud. */
export function isAboutDeployment({ path }: DeclaredRoute): boolean {
  return path.startsWith("/api/deployments/:id");
}

/**
 * Returns the response of this installation or, where it does not know the deployment, that of the cloud. What was found
 * in the cloud before is looked for there first.
 */
export async function orFromCloud(
  answer: () => Response | Promise<Response>,
  asked: AskedHere,
  forward: Forward,
): Promise<Response> {
  const { reached, route, params, caller } = asked;
  const { permission } = route;
  const { principal } = caller;
  if (!principal || permission === undefined || permission === "self") return answer();
  const fromCloud = () => sentToCloud(asked, { principal, permission }, forward);
  const isKnown = forward.isKnown(principal, params["id"] ?? "");
  const found = isKnown ? await fromCloud() : undefined;
  if (found) return found;
  const response = await answer();
  const isMissing = response.status === 404 && failureCode(reached) === "deployment_not_found";
  return (isMissing && !isKnown && (await fromCloud())) || response;
}

async function sentToCloud(
  { request, route, path, query, params, caller, body, identify }: AskedHere,
  { principal, permission }: { readonly principal: Principal; readonly permission: Permission },
  forward: Forward,
): Promise<Response | undefined> {
  const { handlerPermission } = route.operation;
  const headers = new Headers(request.headers);
  headers.set("x-request-id", caller.requestId);
  const forwarded = await forward.send(principal, {
    deploymentId: params["id"] ?? "",
    permissions: handlerPermission ? [permission, handlerPermission] : [permission],
    method: request.method === "HEAD" ? "GET" : request.method,
    path: path + query,
    headers,
    body: body ? new TextDecoder().decode(body) : null,
    signal: request.signal,
  });
  return forwarded && forwardedResponse(forwarded, identify, principal.userId);
}

/**
 * Returns the cloud's response for the client. What is streamed to a client ends soon after its credential, or its
 * permission, does.
 */
function forwardedResponse(
  { response, check }: ForwardedResponse,
  identify: () => Promise<Principal>,
  userId: string,
): Response {
  const { body, headers, status } = response;
  const isStream = !headers.get("content-type")?.startsWith("application/json");
  if (!body || !isStream) return response;
  countStream(userId, body);
  const left = new AbortController();
  const chunks = whileAllowed(
    async () => check(await identify()),
    RECHECK_MS,
    (done) => chunksOf(body, AbortSignal.any([done, left.signal]), userId),
  );
  const passed = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      left.abort();
    },
  });
  return new Response(passed, { status, headers });
}

/** Counts a stream of a member, until `chunksOf` has ended. Each occupies one of the process's connections. */
function countStream(userId: string, body: ReadableStream<Uint8Array>): void {
  const own = streams.get(userId) ?? 0;
  const all = streams.values().reduce((sum, count) => sum + count, 0);
  if (own >= MOST_OF_MEMBER || all >= MOST_OF_ALL) {
    void body.cancel();
    const sentence = "Cannot open another stream to the cloud: close others first, or read the logs instead";
    throw new Failure("throttled", "too_many_streams", sentence, { retryAfter: 10 });
  }
  streams.set(userId, own + 1);
}

async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  done: AbortSignal,
  userId: string,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const end = () => void reader.cancel().catch(() => {});
  done.addEventListener("abort", end);
  try {
    for (;;) {
      const { done: isOver, value } = await reader.read();
      if (isOver) return;
      yield value;
    }
  } finally {
    done.removeEventListener("abort", end);
    end();
    const others = (streams.get(userId) ?? 1) - 1;
    if (others > 0) streams.set(userId, others);
    else streams.delete(userId);
  }
}
