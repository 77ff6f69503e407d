import {
  branchNotFound,
  fileNotFound,
  fileTooLarge,
  refusedByHost,
  repositoryNotFound,
} from "../../domain/githost/host_failures.ts";
import {
  type Branch,
  type FileEntry,
  MAX_FILE_BYTES,
  type Repository,
  type RepositoryFile,
  type RepositoryName,
} from "../../domain/githost/repository.ts";
import { Secret } from "../../domain/secret.ts";
import type { GitRepositories, RepositoryPath } from "../../ports/githost/git_repositories.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { copied } from "./copied.ts";
import type { MemoryGitHostState } from "./git_host.ts";
import type { MemoryBranch, MemoryFiles } from "./git_host_data.ts";

const CLONE_TOKEN_MS = 3_599_000;

/** The repositories of a git host in memory. */
export class MemoryGitRepositories implements GitRepositories {
  readonly #host: MemoryGitHostState;

  constructor(host: MemoryGitHostState) {
    this.#host = host;
  }

  async list(access: HostAccess, signal: AbortSignal): Promise<readonly Repository[]> {
    this.#host.enterAs(access, signal);
    const all = [...this.#host.repositories.values()].map(({ repository }) => repository);
    return copied(all.filter((repository) => this.#host.isOwn(access, repository)));
  }

  async find(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<Repository> {
    this.#host.enterAs(access, signal);
    return copied(this.#host.visible(access, name).repository);
  }

  async create(
    access: HostAccess,
    {
      owner,
      name,
      private: isPrivate,
    }: { readonly owner?: string | undefined; readonly name: string; readonly private: boolean },
    signal: AbortSignal,
  ): Promise<Repository> {
    this.#host.enterAs(access, signal);
    const account = this.#creator(access, owner);
    const action = `create the repository "${account}/${name}"`;
    if (this.#host.repositories.has(`${account}/${name}`.toLowerCase()))
      throw refusedByHost(action, "name already exists on this account");
    if (!/^[\w.-]{1,100}$/.test(name) || name === "." || name === "..")
      throw refusedByHost(action, "name is not valid");
    const branches = { main: { "README.md": `# ${name}\n` } };
    return copied(this.#host.addRepository({ owner: account, name, private: isPrivate, branches }));
  }

  async remove(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<void> {
    this.#host.enterAs(access, signal);
    const { repository } = this.#host.visible(access, name);
    if (!this.#host.mayManage(access, repository, ["delete_repo"]))
      throw refusedByHost(`delete the repository "${repository.fullName}"`, "Must have admin rights to Repository.");
    this.#host.repositories.delete(repository.fullName.toLowerCase());
  }

  async branches(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<readonly Branch[]> {
    this.#host.enterAs(access, signal);
    const branches = [...this.#host.visible(access, name).branches];
    return branches.map(([branch, { sha, protected: isProtected }]) => ({ name: branch, sha, protected: isProtected }));
  }

  async files(
    access: HostAccess,
    name: RepositoryName,
    at: RepositoryPath,
    signal: AbortSignal,
  ): Promise<readonly FileEntry[]> {
    this.#host.enterAs(access, signal);
    const path = partsOf(at.path).join("/");
    const { files } = this.#branch(access, name, at);
    const entries = entriesOf(files, path, (content) => this.#host.sha(content));
    if (files[path] !== undefined || (entries.length === 0 && path !== ""))
      throw fileNotFound(name, { path: at.path, wanted: "folder" });
    return entries;
  }

  async file(
    access: HostAccess,
    name: RepositoryName,
    at: RepositoryPath,
    signal: AbortSignal,
  ): Promise<RepositoryFile> {
    this.#host.enterAs(access, signal);
    const path = partsOf(at.path).join("/");
    const content = this.#branch(access, name, at).files[path];
    if (typeof content !== "string" && !(content instanceof Uint8Array))
      throw fileNotFound(name, { path: at.path, wanted: "file" });
    const bytes = Uint8Array.from(Buffer.from(content));
    if (bytes.length > MAX_FILE_BYTES) throw fileTooLarge(at.path);
    return { path, sha: blobSha(bytes, (text) => this.#host.sha(text)), size: bytes.length, bytes };
  }

  async cloneToken(
    installationId: number,
    name: RepositoryName,
    signal: AbortSignal,
  ): Promise<{ readonly token: Secret; readonly expiresAt: Date }> {
    const access = { kind: "installation", installationId } as const;
    this.#host.enterAs(access, signal);
    const { repository } = this.#host.visible(access, name);
    if (!this.#host.isOwn(access, repository)) throw repositoryNotFound(name);
    const token = `ghs_memory_clone_${this.#host.number()}`;
    this.#host.cloneTokens.set(token, { owner: repository.owner, repo: repository.name });
    return { token: new Secret(token), expiresAt: new Date(this.#host.clock.now().getTime() + CLONE_TOKEN_MS) };
  }

  /** Returns the account that gets a new repository, if the access may create one there. */
  #creator(access: HostAccess, owner: string | undefined): string {
    if (access.kind === "installation") {
      const { account } = this.#host.installation(access.installationId);
      const isOwn = owner === undefined || owner.toLowerCase() === account.login.toLowerCase();
      if (isOwn && account.type === "Organization") return account.login;
      throw refusedByHost("create the repository", "Resource not accessible by integration");
    }
    const { login } = this.#host.owner(access.token);
    if (owner === undefined || owner.toLowerCase() === login.toLowerCase()) return login;
    if (this.#host.role(owner, login) !== undefined) return owner;
    throw refusedByHost("create the repository", `no organization "${owner}" that this login may use`);
  }

  #branch(access: HostAccess, name: RepositoryName, { branch }: RepositoryPath): MemoryBranch {
    const { branches, repository } = this.#host.visible(access, name);
    const found = branches.get(branch ?? repository.defaultBranch);
    if (!found) throw branchNotFound(name, branch ?? repository.defaultBranch);
    return found;
  }
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

/** Returns the entries of a folder, ordered by name. */
function entriesOf(files: MemoryFiles, folder: string, sha: (content: string | Uint8Array) => string): FileEntry[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  const entries = new Map<string, FileEntry>();
  for (const [path, content] of Object.entries(files)) {
    if (!path.startsWith(prefix)) continue;
    const [name = "", ...below] = path.slice(prefix.length).split("/");
    if (below.length > 0)
      entries.set(name, { name, path: prefix + name, type: "dir", size: 0, sha: sha(prefix + name) });
    else entries.set(name, { name, path, ...describe(content, sha) });
  }
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function describe(content: MemoryFiles[string], sha: (content: string | Uint8Array) => string) {
  if (typeof content === "object" && "submodule" in content)
    return { type: "submodule", size: 0, sha: content.submodule } as const;
  const isLink = typeof content === "object" && "link" in content;
  const bytes = Buffer.from(isLink ? content.link : content);
  return { type: isLink ? "symlink" : "file", size: bytes.length, sha: blobSha(bytes, sha) } as const;
}

function blobSha(bytes: Uint8Array, sha: (content: Uint8Array) => string): string {
  return sha(Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]));
}
