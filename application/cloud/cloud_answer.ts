import { cloudAway, cloudRefused, cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import { type Detail, Failure } from "../../domain/failure.ts";

/** The JSON of a response of the cloud, read whole. */
export interface CloudAnswer {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A page of logs with the longest lines is larger than all other answers. */
const MOST_BYTES = 192 * 2 ** 20;
/** A cloud that sends nothing for so long in the middle of its answer, or takes so long in all, is away. */
const STALLED_MS = 15_000;
const LIMIT_MS = 50_000;
const MOST_WORDS = 2_000;

/**
 * Reads a response with a JSON object. Throws where it says nothing about the request: it is cut, or no JSON, the cloud
 * refuses the link itself, or something in front of it answers that it is away.
 */
export async function readCloudAnswer(response: Response): Promise<CloudAnswer> {
  const { status } = response;
  const text = await textOf(response);
  if (status === 401) throw cloudRefused();
  const value = objectIn(text);
  const isOurs = value !== undefined && (status < 400 || isProblem(value));
  if (!isOurs && status >= 502 && status <= 504) throw cloudAway();
  if (!isOurs) throw cloudUnreadable();
  return { text, value };
}

/** Returns the JSON object of a successful response. Throws the cloud's own words for a refusal. */
export async function cloudAnswer(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const { value } = await readCloudAnswer(response);
  if (response.ok) return value;
  const { error, code, message, details } = value as unknown as Problem;
  const retryAfter = Number(response.headers.get("retry-after") ?? NaN);
  const words = (message ?? error).replaceAll(/\bslp_[\w-]+/g, "slp_…").slice(0, MOST_WORDS);
  throw new Failure(KINDS[response.status] ?? "remote_failed", code, `The hosted cloud answers: ${words}`, {
    ...(details && { details }),
    ...(Number.isFinite(retryAfter) && { retryAfter }),
  });
}

interface Problem {
  readonly error: string;
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly Detail[];
}

const KINDS: Readonly<Record<number, Failure["kind"]>> = {
  400: "invalid",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  429: "throttled",
  503: "unavailable",
};

function isProblem({ success, error, code, details = [] }: Readonly<Record<string, unknown>>): boolean {
  const isTold = typeof error === "string" && typeof code === "string" && /^[a-z0-9_]{1,60}$/.test(code);
  return success === false && isTold && Array.isArray(details) && details.every(isDetail);
}

function isDetail(part: { path?: unknown; message?: unknown } | null): boolean {
  return typeof part?.path === "string" && typeof part.message === "string";
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Not JSON.
  }
  return undefined;
}

/** Reads a body of bounded size that may not stall. */
async function textOf(response: Response): Promise<string> {
  // It is here as a whole.
  if (response.headers.has("content-length")) return response.text();
  const { body } = response;
  const chunks = body?.values();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  const end = Date.now() + LIMIT_MS;
  let bytes = 0;
  try {
    for (let next = await soon(chunks?.next()); next && !next.done; next = await soon(chunks?.next())) {
      bytes += next.value.length;
      if (bytes > MOST_BYTES) throw cloudUnreadable();
      if (Date.now() > end) throw cloudAway();
      parts.push(decoder.decode(next.value, { stream: true }));
    }
    return parts.join("") + decoder.decode();
  } catch (cause) {
    void chunks?.return?.().catch(() => {});
    throw cause instanceof Failure ? cause : cloudAway({ cause });
  }
}

function soon<T>(chunk: Promise<T> | undefined): Promise<T | undefined> {
  const stalled = Promise.withResolvers<never>();
  const timer = setTimeout(() => stalled.reject(new Error("The cloud stalls")), STALLED_MS);
  return Promise.race([chunk, stalled.promise]).finally(() => clearTimeout(timer));
}
