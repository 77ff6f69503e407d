import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The changes of a commit: contents by path. `null` removes a file; `{ link: target }` is a symlink. */
export type CommitFiles = Readonly<Record<string, string | Uint8Array | { readonly link: string } | null>>;

/** Who may read a repository: anyone, or only clients with this password. */
export interface RepositoryAccess {
  readonly password?: string;
}

const BASE_ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  LC_ALL: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

/** Runs git in a folder and returns its output. Throws with its stderr on failure. */
export async function git(folder: string, ...words: readonly string[]): Promise<string> {
  const child = Bun.spawn(["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", ...words], {
    cwd: folder,
    env: BASE_ENVIRONMENT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`git ${words.join(" ")}: ${errors}`);
  return output.trim();
}

/** A bare repository, with a work tree to fill it from. */
export class TestRepository {
  readonly bare: string;
  readonly #work: string;

  private constructor(bare: string, work: string) {
    this.bare = bare;
    this.#work = work;
  }

  static async create(bare: string, work: string): Promise<TestRepository> {
    await mkdir(bare, { recursive: true });
    await mkdir(work, { recursive: true });
    await git(bare, "init", "--quiet", "--bare");
    await git(bare, "config", "http.receivepack", "true");
    await git(work, "init", "--quiet");
    await git(work, "remote", "add", "origin", bare);
    return new TestRepository(bare, work);
  }

  /** Commits on top of the last commit, force-pushes to a branch and returns the commit id. */
  async commit(
    files: CommitFiles,
    { branch = "main", message = "change" }: { branch?: string; message?: string } = {},
  ) {
    for (const [path, content] of Object.entries(files)) await this.#put(path, content);
    await git(this.#work, "add", "--all");
    await git(this.#work, "commit", "--quiet", "--allow-empty", "--message", message);
    await git(this.#work, "push", "--quiet", "--force", "origin", `HEAD:refs/heads/${branch}`);
    return git(this.#work, "rev-parse", "HEAD");
  }

  /** Runs git in the work tree. */
  git(...words: readonly string[]): Promise<string> {
    return git(this.#work, ...words);
  }

  async #put(path: string, content: CommitFiles[string]): Promise<void> {
    const place = join(this.#work, path);
    await rm(place, { recursive: true, force: true });
    if (content === null) return;
    await mkdir(dirname(place), { recursive: true });
    if (typeof content === "string" || content instanceof Uint8Array) await writeFile(place, content);
    else await Bun.$`ln -s -- ${content.link} ${place}`.quiet();
  }
}

/** A local git host: `git http-backend` behind a server that checks passwords. */
export class GitServer implements AsyncDisposable {
  readonly #root: string;
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #access = new Map<string, RepositoryAccess>();
  /** All requests as `METHOD path?query`, with their credentials. */
  readonly requests: { readonly line: string; readonly authorization: string | null }[] = [];
  /** Whether to use git protocol version 2, which allows fetching any commit. */
  modern = true;
  /** Answers a request instead of git if it returns a response. */
  intercept: ((request: Request) => Response | undefined | Promise<Response | undefined>) | undefined;

  private constructor(root: string) {
    this.#root = root;
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
  }

  static async start(): Promise<GitServer> {
    return new GitServer(await mkdtemp(join(tmpdir(), "slipway-")));
  }

  get port(): number {
    return this.#server.port!;
  }

  /** The URL of a repository, which need not exist. */
  url(name: string): string {
    return `http://127.0.0.1:${this.port}/${name}.git`;
  }

  async repository(name: string, access: RepositoryAccess = {}): Promise<TestRepository> {
    this.#access.set(`/${name}.git`, access);
    return TestRepository.create(join(this.#root, "bare", `${name}.git`), join(this.#root, "work", name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
    await rm(this.#root, { recursive: true, force: true });
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const authorization = request.headers.get("authorization");
    this.requests.push({ line: `${request.method} ${url.pathname}${url.search}`, authorization });
    const intercepted = await this.intercept?.(request);
    if (intercepted) return intercepted;
    const access = this.#access.get(/^\/.*?\.git(?=\/)/.exec(url.pathname)?.[0] ?? "");
    if (!access) return new Response("Repository not found.", { status: 404 });
    if (access.password !== undefined && passwordOf(authorization) !== access.password) {
      return new Response("Who are you?", { status: 401, headers: { "www-authenticate": 'Basic realm="git"' } });
    }
    return this.#backend(request, url);
  }

  async #backend(request: Request, url: URL): Promise<Response> {
    const backend = Bun.spawn(["git", "http-backend"], {
      env: {
        ...BASE_ENVIRONMENT,
        GIT_PROJECT_ROOT: join(this.#root, "bare"),
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_PROTOCOL: (this.modern && request.headers.get("git-protocol")) || "",
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers.get("content-type") ?? "",
        HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
        REMOTE_USER: "tester",
        REMOTE_ADDR: "127.0.0.1",
      },
      stdio: [new Uint8Array(await request.arrayBuffer()), "pipe", "ignore"],
    });
    const answer = Buffer.from(await backend.stdout.bytes());
    const end = answer.indexOf("\r\n\r\n");
    const headers = new Headers(
      answer
        .subarray(0, end)
        .toString()
        .split("\r\n")
        .map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
    );
    const status = Number.parseInt(headers.get("status") ?? "200", 10);
    headers.delete("status");
    return new Response(answer.subarray(end + 4), { status, headers });
  }
}

function passwordOf(authorization: string | null): string | undefined {
  const encoded = authorization?.replace(/^Basic /, "");
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString().split(/:(.*)/s)[1];
}
