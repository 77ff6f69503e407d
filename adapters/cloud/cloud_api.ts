import { cloudAway, cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import { cloudRequestHeaders, cloudResponseHeaders } from "../../domain/cloud/passed_headers.ts";
import type { CloudAddress, CloudApi, CloudRequest } from "../../ports/cloud/cloud_api.ts";

/** The longest that a route of the API takes to begin its answer, with some to spare. */
const LIMIT_MS = 75_000;
/** After this time without an answer, the cloud is asked whether it is there at all. */
const ASK_MS = 5_000;
/** Answers up to this length are read at once: that costs a third of what opening a stream for them does. */
const SHORT_BYTES = 65_536;

/** Sends requests to the hosted cloud over HTTP. */
export class HttpCloudApi implements CloudApi {
  async send(cloud: CloudAddress, request: CloudRequest): Promise<Response> {
    const { signal, limitMs = LIMIT_MS } = request;
    signal.throwIfAborted();
    const away = new AbortController();
    const stopped = AbortSignal.any([signal, away.signal]);
    const answered = new AbortController();
    void watched(cloud, { away, until: AbortSignal.any([answered.signal, signal]), limitMs });
    const answer = await sent(cloud, request, stopped)
      .catch((cause: unknown) => {
        signal.throwIfAborted();
        throw cloudAway({ cause });
      })
      .finally(() => answered.abort());
    return passedOn(answer);
  }
}

/** A response, with its body where that is short. */
interface Answered {
  readonly response: Response;
  readonly bytes?: ArrayBuffer;
}

async function sent(cloud: CloudAddress, request: CloudRequest, signal: AbortSignal): Promise<Answered> {
  const { method, path, body = null } = request;
  const init = {
    method,
    headers: headersOf(cloud, request),
    body,
    // The token must not follow a redirect to another host.
    redirect: "manual",
    // A body is passed on as it arrives, compressed or not.
    decompress: false,
    // A pooled connection that the cloud closes meanwhile would lose a change.
    keepalive: method === "GET",
    signal,
  } as const;
  try {
    return await read(await fetch(`${cloud.url}${path}`, init));
  } catch (error) {
    // The cloud may have closed a pooled connection; a second attempt opens a new one.
    if (method !== "GET" || signal.aborted) throw error;
    return read(await fetch(`${cloud.url}${path}`, { ...init, keepalive: false }));
  }
}

async function read(response: Response): Promise<Answered> {
  const length = Number(response.headers.get("content-length") ?? 0);
  const isShort = length > 0 && length <= SHORT_BYTES;
  return isShort ? { response, bytes: await response.arrayBuffer() } : { response };
}

function headersOf({ token }: CloudAddress, { headers: given, actingMember }: CloudRequest): Headers {
  const headers = cloudRequestHeaders(given, { token, actingMember });
  if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
  return headers;
}

function passedOn({ response, bytes }: Answered): Response {
  const { status, type } = response;
  const isRedirect = (status >= 300 && status < 400 && status !== 304) || type === "opaqueredirect";
  if (isRedirect || status < 200 || status > 599) {
    if (!bytes) void response.body?.cancel();
    throw cloudUnreadable();
  }
  const headers = cloudResponseHeaders(response.headers);
  if (bytes) headers.set("content-length", String(bytes.byteLength));
  return new Response(bytes ?? response.body, { status, headers });
}

interface Watch {
  /** Is aborted when the cloud does not answer at all, or the time is over. */
  readonly away: AbortController;
  readonly until: AbortSignal;
  readonly limitMs: number;
}

/** Watches over a request that waits for its answer: some work takes a minute, but a cloud that is gone is noticed. */
async function watched({ url }: CloudAddress, { away, until, limitMs }: Watch): Promise<void> {
  for (const end = Date.now() + limitMs; !until.aborted;) {
    await pause(Math.min(ASK_MS, Math.max(end - Date.now(), 0)), until);
    if (until.aborted) return;
    if (Date.now() >= end || !(await isThere(url, until))) return away.abort(new Error("The cloud does not answer"));
  }
}

async function isThere(url: string, until: AbortSignal): Promise<boolean> {
  try {
    const signal = AbortSignal.any([until, AbortSignal.timeout(ASK_MS)]);
    const response = await fetch(`${url}/api/health`, { signal, redirect: "manual", keepalive: false });
    await response.body?.cancel();
    return true;
  } catch {
    return until.aborted;
  }
}

function pause(ms: number, until: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  until.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
