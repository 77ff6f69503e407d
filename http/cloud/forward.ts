import type { DeploymentRequest, ForwardedResponse } from "../../application/cloud/forward_deployment.ts";
import { whileAllowed } from "../../application/deployments/while_allowed.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Caller, DeclaredRoute } from "../access.ts";
import { failureCode } from "../problems.ts";

const RECHECK_MS = 2_000;

/** Forwards a request to the hosted cloud; `undefined` if the deployment is not there either. */
export type Forward = (by: Principal, request: DeploymentRequest) => Promise<ForwardedResponse | undefined>;

/** A request about one deployment that a route of this installation has answered. */
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

/** Returns the response of this installation or, where it does not know the deployment, that of the cloud. */
export async function orFromCloud(
  answered: Response | Promise<Response>,
  { request, reached, route, path, query, params, caller, body, identify }: AskedHere,
  forward: Forward,
): Promise<Response> {
  const response = await answered;
  const { permission, operation } = route;
  const isMissing = response.status === 404 && failureCode(reached) === "deployment_not_found";
  if (!isMissing || !caller.principal || permission === undefined || permission === "self") return response;
  const { handlerPermission } = operation;
  const headers = new Headers(request.headers);
  headers.set("x-request-id", caller.requestId);
  const forwarded = await forward(caller.principal, {
    deploymentId: params["id"] ?? "",
    permissions: handlerPermission ? [permission, handlerPermission] : [permission],
    method: request.method === "HEAD" ? "GET" : request.method,
    path: path + query,
    headers,
    body: body ? new TextDecoder().decode(body) : null,
    signal: request.signal,
  });
  return forwarded ? forwardedResponse(forwarded, identify) : response;
}

/**
 * Returns the cloud's response for the client. What is streamed to a client ends soon after its credential, or its
 * permission, does.
 */
function forwardedResponse({ response, check }: ForwardedResponse, identify: () => Promise<Principal>): Response {
  const { body, headers, status } = response;
  const isStream = !headers.get("content-type")?.startsWith("application/json");
  if (!body || !isStream) return response;
  const left = new AbortController();
  const chunks = whileAllowed(
    async () => check(await identify()),
    RECHECK_MS,
    (done) => chunksOf(body, AbortSignal.any([done, left.signal])),
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

async function* chunksOf(body: ReadableStream<Uint8Array>, done: AbortSignal): AsyncGenerator<Uint8Array> {
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
  }
}
