import { Value } from "@sinclair/typebox/value";
import { FormatRegistry } from "@sinclair/typebox";
import { MemoryLog } from "../../../adapters/memory/log.ts";
import { type MemoryWorld, memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { type AppSettings, buildApplication } from "../../../wiring/build_application.ts";
import type { DeclaredRoute } from "../../../http/access.ts";
import type { Gate } from "../../../http/gate.ts";
import { problemStatuses } from "../../../http/openapi.ts";
import { Problem } from "../../../http/problems.ts";
import { routeTable } from "../../../http/route_table.ts";
import type { World } from "../../../ports/world.ts";
import { recorded } from "./recorded.ts";

FormatRegistry.Set("date-time", (text) => !Number.isNaN(Date.parse(text)));

export const SETTINGS: AppSettings = {
  acmeDirectoryUrl: "https://ca.example.com/directory",
  mode: "self-hosted",
  runtime: "process",
  baseDomain: "localhost",
  host: "127.0.0.1",
  edgeTlsPort: 4443,
  dataFolder: "/data/slipway",
  backupAllowLocal: false,
  backupLocalRoot: undefined,
  localSourceRoots: [],
  trustedProxies: [],
  uploadMaxBytes: 1_000_000,
  publicUrl: "http://slipway.test",
  githostUrl: "https://git.example.com",
  githostApp: undefined,
  githostOAuth: undefined,
  githostWebhookSecret: undefined,
  cloudApiUrl: undefined,
  cloudToken: undefined,
};

/** One API request. Omitted fields are left out of the request. */
export interface Call {
  readonly token?: string;
  readonly cookie?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly raw?: string | Uint8Array | ReadableStream<Uint8Array>;
  readonly peer?: string;
}

/** A response with its body parsed. */
export interface Answer {
  readonly status: number;
  // Tests read response bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly text: string;
  readonly headers: Headers;
}

/** Returns a client of an application that validates every response against the schema its route declares. */
export function caller(handle: Gate, routes: readonly DeclaredRoute[]) {
  const match = routeTable(routes);
  return async function (method: string, path: string, call: Call = {}): Promise<Answer> {
    const headers = new Headers(call.headers);
    if (call.token) headers.set("authorization", `Bearer ${call.token}`);
    if (call.cookie) headers.set("cookie", `slipway_session=${call.cookie}`);
    if (call.body !== undefined) headers.set("content-type", "application/json");
    headers.set("host", "slipway.test");
    const body = call.body === undefined ? (call.raw as string | undefined) : JSON.stringify(call.body);
    const init = { method, headers, ...(body !== undefined && { body }) };
    const response = await handle(new Request(`http://slipway.test${path}`, init), call.peer ?? "127.0.0.1");
    const text = await response.text();
    const json = response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : undefined;
    const { found } = match(method, path.split("?")[0]!);
    assertDeclared(response, json, found, `${method} ${path}`);
    return { status: response.status, body: json, text, headers: response.headers };
  };
}

function assertDeclared(
  { status, headers }: Response,
  json: unknown,
  route: DeclaredRoute | undefined,
  what: string,
): void {
  if (status >= 400) {
    // A bug can cause a 500 on any route, so no route declares it.
    if (route && status !== 500 && !problemStatuses(route).includes(status))
      throw new Error(`${what} answered ${status}, which it does not declare: ${JSON.stringify(json)}`);
    if (!Value.Check(Problem, json))
      throw new Error(`${what} answered ${status} without an error body: ${JSON.stringify(json)}`);
    return;
  }
  const { answer, alternative, redirects, status: declared = 200 } = route!.operation;
  if (status === 302 && redirects !== undefined) return;
  if (status !== declared) throw new Error(`${what} answered ${status}, but declares ${declared}`);
  const media = headers.get("content-type")?.split(";")[0];
  if ("media" in answer || (alternative !== undefined && media === alternative)) return;
  const [wrong] = Value.Errors(answer, json);
  if (wrong)
    throw new Error(
      `${what} answered with an undeclared body: ${wrong.path} ${wrong.message}: ${JSON.stringify(json)}`,
    );
}

/** The whole application in memory, with its first owner. `replace` substitutes some of its ports. */
export async function memoryApp(
  settings: Partial<AppSettings> = {},
  replace: (world: MemoryWorld) => Partial<World> = () => ({}),
) {
  const world = { ...memoryWorld(), log: new MemoryLog() };
  const { handle, routes, useCases } = buildApplication(recorded({ ...world, ...replace(world) }), {
    ...SETTINGS,
    ...settings,
  });
  const { shownToken } = await useCases.claimInstallation(undefined);
  return { world, handle, routes, useCases, call: caller(handle, routes), owner: shownToken! };
}

export type TestApp = Awaited<ReturnType<typeof memoryApp>>;

/** Creates a member with a role by invitation, logs it in and creates a token for it. */
export async function member(
  app: Pick<TestApp, "call" | "owner">,
  role: string,
  options: { grants?: unknown[]; cookie?: string; organizationId?: string } = {},
) {
  const email = `${role}-${crypto.randomUUID()}@example.com`;
  const password = "correct horse battery";
  const as = options.cookie
    ? {
        cookie: options.cookie,
        headers: {
          origin: "http://slipway.test",
          ...(options.organizationId && { "x-organization-id": options.organizationId }),
        },
      }
    : { token: app.owner };
  const invited = await app.call("POST", "/api/members", {
    ...as,
    body: { email, role, ...(options.grants && { grants: options.grants }) },
  });
  if (invited.status !== 201) throw new Error(invited.text);
  const accepted = await app.call("POST", "/api/auth/accept-invitation", {
    body: { token: invited.body.data.token, name: role, password },
  });
  if (accepted.status !== 200) throw new Error(accepted.text);
  const cookie = await login(app, email, password);
  const minted = await app.call("POST", "/api/tokens", {
    cookie,
    headers: { origin: "http://slipway.test" },
    body: { name: "test" },
  });
  if (minted.status !== 201) throw new Error(minted.text);
  const me = await app.call("GET", "/api/auth/me", { cookie });
  return {
    email,
    password,
    cookie,
    token: minted.body.data.token as string,
    tokenId: minted.body.data.id as string,
    userId: me.body.data.user.id as string,
  };
}

/** A request as the dashboard sends it: with the session cookie, from its own origin. */
export function browser(cookie: string, headers: Record<string, string> = {}) {
  return { cookie, headers: { origin: "http://slipway.test", ...headers } };
}

/** Sets a password for the first owner and returns a session cookie. */
export async function ownerSession(app: Pick<TestApp, "call" | "owner">): Promise<string> {
  const password = "correct horse battery";
  await app.call("POST", "/api/auth/password", { token: app.owner, body: { password } });
  return login(app, "owner@localhost", password);
}

/** Logs in and returns the session cookie. */
export async function login({ call }: Pick<TestApp, "call">, email: string, password: string): Promise<string> {
  const answer = await call("POST", "/api/auth/login", { body: { email, password } });
  const cookie = /slipway_session=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
  if (!cookie) throw new Error(`login answered ${answer.status} ${answer.text}`);
  return cookie;
}
