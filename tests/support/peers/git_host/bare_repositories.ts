import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { MemoryBranch, MemoryFiles, MemoryRepository } from "../../../../adapters/memory/git_host_data.ts";
import type { MemoryPullRequest } from "../../../../adapters/memory/host_pull_requests.ts";
import { git } from "../git_server.ts";

const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  LC_ALL: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
};

/** Real git repositories for those of the emulated host, made when they are first needed, served by git's own server. */
export class BareRepositories implements AsyncDisposable {
  readonly #made = new Map<number, Promise<string>>();
  #root: Promise<string> | undefined;

  /** Makes the repository, whose commits then are those of the branches. */
  async make(found: MemoryRepository): Promise<string> {
    const { id } = found.repository;
    const made = this.#made.get(id) ?? this.#import(found);
    this.#made.set(id, made);
    return await made;
  }

  /** Answers a request of git's HTTP protocol, without checking who sends it. */
  async answer(found: MemoryRepository, request: Request, path: string): Promise<Response> {
    const folder = await this.make(found);
    const url = new URL(request.url);
    const backend = Bun.spawn(["git", "http-backend"], {
      env: {
        ...ENVIRONMENT,
        GIT_PROJECT_ROOT: dirname(folder),
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
        PATH_INFO: `/${found.repository.id}.git${path}`,
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
    const lines = answer.subarray(0, end).toString().split("\r\n");
    const headers = new Headers(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
    const status = Number.parseInt(headers.get("status") ?? "200", 10);
    headers.delete("status");
    if (path === "/git-receive-pack") await this.#readBack(found, folder);
    return new Response(answer.subarray(end + 4), { status, headers });
  }

  /** Commits files to a branch, which begins at the default branch if it is new. Returns the commit. */
  async commit(found: MemoryRepository, branch: string, files: MemoryFiles): Promise<string> {
    const folder = await this.make(found);
    const base = [branch, found.repository.defaultBranch].find((name) => found.branches.has(name));
    const from = base === undefined ? "" : `from refs/heads/${base}^0\n`;
    await fastImport(folder, commitStream(branch, files, from));
    await this.#readBack(found, folder);
    return found.branches.get(branch)!.sha;
  }

  /** Lets a repository show the newest commit of a pull request as `refs/pull/<number>/head`. */
  async showPull(base: MemoryRepository, head: MemoryRepository, { number, heads }: MemoryPullRequest): Promise<void> {
    const [folder, source] = [await this.make(base), await this.make(head)];
    await git(folder, "fetch", "--quiet", "--no-tags", source, `+${heads.at(-1)}:refs/pull/${number}/head`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#root) await rm(await this.#root, { recursive: true, force: true });
  }

  async #import(found: MemoryRepository): Promise<string> {
    this.#root ??= mkdtemp(join(tmpdir(), "slipway-"));
    const folder = join(await this.#root, `${found.repository.id}.git`);
    await mkdir(folder, { recursive: true });
    await git(folder, "init", "--quiet", "--bare");
    await git(folder, "config", "http.receivepack", "true");
    await git(folder, "config", "uploadpack.allowAnySHA1InWant", "true");
    await git(folder, "symbolic-ref", "HEAD", `refs/heads/${found.repository.defaultBranch}`);
    await fastImport(folder, importStream(found.branches));
    await this.#readShas(found, folder);
    return folder;
  }

  async #readShas(found: MemoryRepository, folder: string): Promise<readonly string[]> {
    const changed: string[] = [];
    const lines = (await git(folder, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")).split("\n");
    const refs = new Map(lines.filter(Boolean).map((line) => [line.slice(52), line.slice(0, 40)]));
    for (const name of found.branches.keys()) if (!refs.has(name)) found.branches.delete(name);
    for (const [name, sha] of refs) {
      const branch = found.branches.get(name);
      if (branch?.sha !== sha) changed.push(name);
      found.branches.set(name, { protected: branch?.protected ?? false, files: branch?.files ?? {}, sha });
    }
    return changed;
  }

  /** Reads what a push changed, so that the API shows it. */
  async #readBack(found: MemoryRepository, folder: string): Promise<void> {
    for (const name of await this.#readShas(found, folder)) {
      const listed = await git(folder, "ls-tree", "-r", "-z", `refs/heads/${name}`);
      const files: Record<string, MemoryFiles[string]> = {};
      for (const line of listed.split("\0").filter(Boolean)) {
        const [, mode, , sha = "", path = ""] = /^(\d+) (\w+) ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
        if (mode === "160000") files[path] = { submodule: sha };
        else files[path] = new Uint8Array(await Bun.$`git cat-file blob ${sha}`.cwd(folder).arrayBuffer());
      }
      found.branches.set(name, { ...found.branches.get(name)!, files });
    }
  }
}

async function fastImport(folder: string, stream: Uint8Array): Promise<void> {
  const child = Bun.spawn(["git", "fast-import", "--quiet"], {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: [stream, "ignore", "inherit"],
  });
  if ((await child.exited) !== 0) throw new Error("git fast-import failed");
}

/** Returns the input of `git fast-import`: one commit per branch. */
function importStream(branches: ReadonlyMap<string, MemoryBranch>): Uint8Array {
  const commits = [...branches].map(([name, { files }]) => commitStream(name, files));
  return Buffer.concat(commits);
}

/** Returns a commit as the input of `git fast-import`, on top of another one if a line says which. */
function commitStream(name: string, files: MemoryFiles, from = ""): Uint8Array {
  const parts: (string | Uint8Array)[] = [];
  parts.push(`commit refs/heads/${name}\n`, "committer Ada <ada@example.com> 1767225600 +0000\n");
  parts.push(data(Buffer.from(`The files of ${name}\n`)), from);
  for (const [path, content] of Object.entries(files)) {
    if (typeof content === "object" && "submodule" in content) {
      parts.push(`M 160000 ${content.submodule} ${quoted(path)}\n`);
      continue;
    }
    const isLink = typeof content === "object" && "link" in content;
    parts.push(`M ${isLink ? "120000" : "100644"} inline ${quoted(path)}\n`);
    parts.push(data(Buffer.from(isLink ? content.link : content)));
  }
  parts.push("\n");
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

function data(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from("\n")]);
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
