import { createHmac } from "node:crypto";
import type { MemoryFiles, MemoryRepository } from "../../../adapters/memory/git_host_data.ts";
import { followBranches, type MemoryPullRequest } from "../../../adapters/memory/host_pull_requests.ts";
import type { RepositoryName } from "../../../domain/githost/repository.ts";
import type { HostFault, HostRepositorySpec } from "../../contracts/git_host_setup.ts";
import { ACCOUNT_ROUTES } from "./git_host/account_routes.ts";
import { BareRepositories } from "./git_host/bare_repositories.ts";
import { COMMENT_ROUTES } from "./git_host/comment_routes.ts";
import { CONTENT_ROUTES } from "./git_host/content_routes.ts";
import { EmulatedHostState } from "./git_host/emulated_host_state.ts";
import { HostAnswer } from "./git_host/host_answer.ts";
import { callerOf, owns, sees } from "./git_host/host_caller.ts";
import { type HostRequest, matchRoute } from "./git_host/host_route.ts";
import { answerOAuth } from "./git_host/oauth_routes.ts";
import { REPOSITORY_ROUTES } from "./git_host/repository_routes.ts";
import { STATUS_ROUTES } from "./git_host/status_routes.ts";

const ROUTES = [...ACCOUNT_ROUTES, ...REPOSITORY_ROUTES, ...CONTENT_ROUTES, ...STATUS_ROUTES, ...COMMENT_ROUTES];
const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

/** A request that the host has answered. */
export interface SeenRequest {
  readonly line: string;
  readonly authorization: string | null;
  readonly status: number;
}

/** What the host answers instead: an error page, an error of its own, half an answer, none, or one that never ends. */
export type EmulatedFault = HostFault | "html" | "error" | "truncated" | "empty" | "silent" | "dripping";

type Intercepted = Response | EmulatedFault | undefined;

/** Decides about one request: a response, a fault, or `undefined` for the usual answer, which a promise holds back. */
export type Interception = (request: Request, url: URL) => Intercepted | Promise<Intercepted>;

/**
 * A strict git host on a free port: its API under `/api/v3` as on enterprise hosts and at the root, OAuth, and git over
 * HTTP. Unknown, expired and revoked tokens are refused, and installation tokens can do only what they were made for.
 */
export class EmulatedGitHost extends EmulatedHostState implements AsyncDisposable {
  readonly origin: string;
  readonly requests: SeenRequest[] = [];
  /** Is asked about every request first. */
  intercept: Interception | undefined;
  readonly #repositories = new BareRepositories();
  readonly #port: number;
  #server: ReturnType<typeof Bun.serve> | undefined;

  private constructor(
    server: ReturnType<typeof Bun.serve>,
    answers: { fetch: (request: Request) => Promise<Response> },
  ) {
    const origin = `http://127.0.0.1:${server.port}`;
    super(origin);
    this.origin = origin;
    this.#port = server.port!;
    this.#server = server;
    answers.fetch = (request) => this.#answer(request);
  }

  static async start(): Promise<EmulatedGitHost> {
    const answers = { fetch: async (_request: Request) => new Response() };
    return new EmulatedGitHost(
      serve(0, (request) => answers.fetch(request)),
      answers,
    );
  }

  get apiUrl(): string {
    return `${this.origin}/api/v3`;
  }

  override addRepository(spec: HostRepositorySpec) {
    return super.addRepository({ ...spec, branches: spec.branches ?? { main: {} } });
  }

  /** Makes the commits of a repository real, so that the API names the ids that git clones. */
  async makeReal(owner: string, name: string): Promise<MemoryRepository> {
    const key = `${owner}/${name}`.toLowerCase();
    await this.#repositories.make(this.repositories.get(key)!);
    return this.repositories.get(key)!;
  }

  /** Makes a real commit, which pull requests from the branch then show. */
  override async commitTo({ owner, repo }: RepositoryName, branch: string, files: MemoryFiles): Promise<string> {
    const found = await this.makeReal(owner, repo);
    const sha = await this.#repositories.commit(found, branch, files);
    await this.#showPulls(found);
    return sha;
  }

  /** Opens a pull request whose commits can be fetched from the repository, also those of a fork. */
  override async openPullRequest(
    name: RepositoryName,
    { branch, fork = name }: { readonly branch: string; readonly fork?: RepositoryName },
  ): Promise<MemoryPullRequest> {
    const base = await this.makeReal(name.owner, name.repo);
    const head = await this.makeReal(fork.owner, fork.repo);
    const pull = await super.openPullRequest(name, { branch, fork });
    await this.#repositories.showPull(base, head, pull);
    return pull;
  }

  override async fail(fault: HostFault | null): Promise<void> {
    super.fail(fault);
    if (fault === "down") {
      await this.#server?.stop(true);
      this.#server = undefined;
    } else this.#server ??= serve(this.#port, (request) => this.#answer(request));
  }

  /** Delivers an event, signed with the secret, as the host does. */
  async deliver(
    to: { readonly url: string; readonly secret: string },
    event: string,
    payload: unknown,
    deliveryId: string = crypto.randomUUID(),
  ): Promise<Response> {
    const body = JSON.stringify(payload);
    const signature = createHmac("sha256", to.secret).update(body).digest("hex");
    const headers = {
      ...JSON_TYPE,
      "user-agent": "GitHub-Hookshot/emulated",
      "x-github-event": event,
      "x-github-delivery": deliveryId,
      "x-hub-signature-256": `sha256=${signature}`,
    };
    return await fetch(to.url, { method: "POST", headers, body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.stop(true);
    await this.#repositories[Symbol.asyncDispose]();
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const response = await this.#faulty(request, url);
    const authorization = request.headers.get("authorization");
    this.requests.push({
      line: `${request.method} ${url.pathname}${url.search}`,
      authorization,
      status: response.status,
    });
    return response;
  }

  async #faulty(request: Request, url: URL): Promise<Response> {
    const intercepted = (await this.intercept?.(request, url)) ?? this.fault;
    if (intercepted instanceof Response) return intercepted;
    if (intercepted === undefined || intercepted === null || intercepted === "down") return this.#usual(request, url);
    if (typeof intercepted === "object") return rateLimit(intercepted.rateLimitedForSeconds);
    const whole = await this.#usual(request, url);
    return await broken(intercepted, whole);
  }

  async #usual(request: Request, url: URL): Promise<Response> {
    try {
      const repository = /^\/([^/]+)\/([^/]+)\.git(\/.*)$/.exec(url.pathname);
      if (repository) return await this.#git(request, repository.slice(1));
      const body = (await request.json().catch(() => ({}))) as Record<string, unknown>;
      const oauth = answerOAuth(this, url.pathname, body);
      return oauth ?? (await this.#api(request, url, body));
    } catch (error) {
      if (error instanceof HostAnswer) return error.response;
      throw error;
    }
  }

  async #api(request: Request, url: URL, body: HostRequest["body"]): Promise<Response> {
    const isPrefixed = url.pathname.startsWith("/api/v3/");
    const path = this.#byId(isPrefixed ? url.pathname.slice("/api/v3".length) : url.pathname);
    const token = /^(?:token|bearer) (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const caller = callerOf(this, token);
    const found = matchRoute(ROUTES, request.method, path);
    if (!found) throw HostAnswer.notFound();
    const { parameters, route } = found;
    const api = isPrefixed ? this.apiUrl : this.origin;
    return await withETag(request, await route.handle({ state: this, caller, parameters, url, api, body }));
  }

  /** Resolves the addresses that renamed repositories redirect to. */
  #byId(path: string): string {
    const [, id, rest = ""] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? [];
    const found = [...this.repositories.values()].find(({ repository }) => `${repository.id}` === id);
    return found ? `/repos/${found.repository.fullName}${rest}` : path;
  }

  async #git(request: Request, [owner = "", name = "", path = ""]: readonly string[]): Promise<Response> {
    const encoded = /^Basic (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
    const password = encoded && Buffer.from(encoded, "base64").toString().split(/:(.*)/s)[1];
    const caller = callerOf(this, password || undefined);
    const found = this.repositories.get(`${owner}/${name}`.toLowerCase());
    const isPush = path.includes("git-receive-pack") || request.url.includes("service=git-receive-pack");
    const mayRead = found !== undefined && sees(this, caller, found);
    if (caller.kind === "anonymous" && (!mayRead || isPush)) {
      const headers = { "www-authenticate": 'Basic realm="GitHub"' };
      return new Response("Repository not found.", { status: 401, headers });
    }
    if (!mayRead) return new Response("Repository not found.", { status: 404 });
    const mayPush = owns(this, caller, found);
    if (isPush && (!mayPush || (caller.kind === "installation" && caller.permissions["contents"] !== "write")))
      return new Response("Write access to repository not granted.", { status: 403 });
    const answer = await this.#repositories.answer(found, request, path);
    if (isPush) await this.#showPulls(found);
    return answer;
  }

  async #showPulls(head: MemoryRepository): Promise<void> {
    const changed = followBranches(this.repositories.values(), head);
    for (const { base, pull } of changed) await this.#repositories.showPull(base, head, pull);
  }
}

function serve(port: number, fetch: (request: Request) => Promise<Response>) {
  return Bun.serve({ hostname: "127.0.0.1", port, idleTimeout: 0, fetch });
}

/** The primary rate limit, as the real host announces it. */
function rateLimit(seconds: number): Response {
  const reset = Math.ceil(Date.now() / 1_000) + seconds;
  const headers = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${reset}` };
  return Response.json({ message: "API rate limit exceeded for 127.0.0.1." }, { status: 403, headers });
}

async function broken(fault: Exclude<EmulatedFault, HostFault>, whole: Response): Promise<Response> {
  if (fault === "silent") return await new Promise<never>(() => {});
  if (fault === "html")
    return new Response("<html><h1>Unicorn!</h1></html>", { headers: { "content-type": "text/html" } });
  if (fault === "error") return Response.json({ message: "Server Error" }, { status: 502 });
  if (fault === "empty") return new Response("", { headers: JSON_TYPE });
  const text = await whole.text();
  if (fault === "truncated") return new Response(text.slice(0, text.length / 2), { headers: JSON_TYPE });
  const drip = new ReadableStream({
    async pull(controller) {
      await Bun.sleep(300);
      controller.enqueue(Buffer.from(" "));
    },
  });
  return new Response(drip, { headers: JSON_TYPE });
}

/** Adds an ETag, and answers 304 to a client that has this version already. */
async function withETag(request: Request, response: Response): Promise<Response> {
  if (request.method !== "GET" || response.status !== 200) return response;
  const body = await response.text();
  const etag = `W/"${Bun.hash(body).toString(16)}"`;
  const headers = new Headers(response.headers);
  headers.set("etag", etag);
  if (request.headers.get("if-none-match") !== etag) return new Response(body, { headers });
  for (const name of ["content-type", "link"]) headers.delete(name);
  return new Response(null, { status: 304, headers });
}
