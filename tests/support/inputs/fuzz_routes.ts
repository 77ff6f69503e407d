import { Value } from "@sinclair/typebox/value";
import { assert, asyncProperty } from "fast-check";
import type { MemoryLog } from "../../../adapters/memory/log.ts";
import type { DeclaredRoute } from "../../../http/access.ts";
import type { Gate } from "../../../http/gate.ts";
import { exampleOf } from "../../../http/openapi_schemas.ts";
import { problemStatuses } from "../../../http/openapi.ts";
import { Problem } from "../../../http/problems.ts";
import { caller } from "../apps/app.ts";
import { fillPath, furnish, type Furniture } from "../apps/furnished.ts";
import { CANARY, type OddBody, type OddRequest, oddRequest } from "./odd_requests.ts";

/** An application to fuzz, in any world. */
export interface FuzzedApp {
  readonly handle: Gate;
  readonly routes: readonly DeclaredRoute[];
  readonly owner: string;
  readonly world: Parameters<typeof furnish>[0]["world"] & { readonly log: MemoryLog };
}

/**
 * Sends `runs` odd requests to every route. Throws on a 5xx, on an error body that is no `Problem`, or on a leaked
 * secret.
 */
export async function fuzzRoutes(app: FuzzedApp, { seed, runs }: { seed: number; runs: number }): Promise<void> {
  const ids = await furnish({ call: caller(app.handle, app.routes), owner: app.owner, world: app.world });
  const kept = app.routes.filter(({ method }) => method !== "DELETE");
  const removing = app.routes.filter(({ method }) => method === "DELETE").toReversed();
  for (const route of [...kept, ...removing]) {
    const property = asyncProperty(oddRequest, (odd) => hold(app, route, requestOf(app, { route, ids, odd })));
    await assert(property, { seed, numRuns: runs, endOnFailure: true });
  }
  if ("polluted" in {}) throw new Error("A request changed the prototype of all objects");
}

function requestOf(
  { owner }: FuzzedApp,
  { route, ids, odd }: { route: DeclaredRoute; ids: Furniture; odd: OddRequest },
): Request {
  const filled = fillPath(
    odd.ids.reduce((path, part) => path.replace(/:\w+/, part.replaceAll("$", "$$$$")), route.path),
    ids,
  );
  const method = odd.method ?? route.method;
  const headers = new Headers(odd.headers);
  if (odd.as !== "anonymous") headers.set("authorization", `Bearer ${odd.as === "owner" ? owner : `slp_${CANARY}`}`);
  const body = method === "GET" || method === "HEAD" ? undefined : bodyOf(odd.body, route);
  const url = `http://slipway.test${filled}${odd.query && `?${odd.query}`}`;
  return new Request(url, { method, headers, ...(body !== undefined && { body }) });
}

async function hold({ handle, world, owner }: FuzzedApp, route: DeclaredRoute, request: Request): Promise<void> {
  const before = world.log.lines.length;
  const response = await handle(request, "127.0.0.1");
  const text = await response.text();
  const exposed = [
    text,
    ...[...response.headers].flat(),
    ...world.log.lines.slice(before).map((line) => line.text),
  ].join("\n");
  const what = `${request.method} ${request.url} answered ${response.status}: ${text.slice(0, 300)}`;
  for (const secret of [CANARY, owner])
    if (exposed.includes(secret)) throw new Error(`A secret was returned or logged: ${what}`);
  if (response.status >= 500 && !(response.status === 502 && problemStatuses(route).includes(502)))
    throw new Error(what);
  if (!response.headers.get("x-request-id")) throw new Error(`No request id: ${what}`);
  if (response.headers.has("x-injected")) throw new Error(`A header was injected: ${what}`);
  if (response.status < 400 || request.method === "HEAD") return;
  if (!response.headers.get("content-type")?.startsWith("application/json")) throw new Error(`Not JSON: ${what}`);
  if (!Value.Check(Problem, JSON.parse(text))) throw new Error(`Not an error body: ${what}`);
}

function bodyOf(odd: OddBody, { hooks }: DeclaredRoute): string | Uint8Array<ArrayBuffer> {
  if (odd.kind === "bytes") return odd.bytes;
  if (odd.kind === "value") return JSON.stringify(odd.value);
  const { body: schema } = hooks as { body?: object };
  const body = structuredClone(schema ? exampleOf(schema) : {}) as Record<string, unknown>;
  for (const { at, to } of odd.changes) {
    const names = Object.keys(body);
    const name = names[at % Math.max(1, names.length)];
    if (name !== undefined) body[name] = inside(body[name], to, at);
  }
  return JSON.stringify(guarded({ ...body, ...odd.added }), canaried);
}

/** Replaces a value, or part of a list, with an odd value. */
function inside(value: unknown, to: unknown, at: number): unknown {
  if (!Array.isArray(value) || at % 3 === 0) return to;
  const [first] = value as unknown[];
  if (typeof first !== "object" || first === null || at % 3 === 1) return [...value, to];
  const names = Object.keys(first);
  return [{ ...first, [names[at % names.length] ?? "x"]: to }];
}

/** Marks every variable secret, because only secret ones must never be returned. */
function guarded(body: Record<string, unknown>): unknown {
  const { upserts } = body;
  if (!Array.isArray(upserts)) return body;
  return {
    ...body,
    upserts: upserts.map((upsert) => (isPlain(upsert) ? { ...(upsert as object), secret: true } : upsert)),
  };
}

function isPlain(upsert: unknown): boolean {
  return typeof upsert === "object" && upsert !== null && "secret" in upsert && upsert.secret === false;
}

const SECRETS = new Set(["password", "current", "token", "sshPassword", "sshPrivateKey", "sshKeyPassphrase", "value"]);

function canaried(name: string, value: unknown): unknown {
  return SECRETS.has(name) && typeof value === "string" ? `${value.slice(0, 50)}${CANARY}` : value;
}
