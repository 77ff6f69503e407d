import { refusedByHost, repositoryNotFound } from "../../domain/githost/host_failures.ts";
import {
  type Branch,
  type FileEntry,
  fullName,
  type Repository,
  type RepositoryFile,
  type RepositoryName,
} from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";
import type { GitRepositories, RepositoryPath } from "../../ports/githost/git_repositories.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { textIn } from "./answer_fields.ts";
import type { HostCall } from "./host_call.ts";
import { hasStatus, wordsOf } from "./host_failure.ts";
import { isRepositoryName } from "./host_names.ts";
import type { OctokitClients } from "./octokit_clients.ts";
import { readFile, readFolder, whyMissing } from "./repository_contents.ts";
import { readRepository, repositoryFrom } from "./repository_from.ts";

/** The repositories of a git host that octokit reaches. */
export class OctokitRepositories implements GitRepositories {
  readonly #clients: OctokitClients;

  constructor(clients: OctokitClients) {
    this.#clients = clients;
  }

  async list(access: HostAccess, signal: AbortSignal): Promise<readonly Repository[]> {
    return await this.#clients.as(access, { action: "list the repositories", signal }, (call) =>
      access.kind === "token"
        ? call.list(
            "repositories",
            ({ rest }, options) => rest.repos.listForAuthenticatedUser(options),
            (data) => data.map(repositoryFrom),
          )
        : call.list(
            "repositories",
            ({ rest }, options) => rest.apps.listReposAccessibleToInstallation(options),
            ({ repositories }) => repositories.map(repositoryFrom),
          ),
    );
  }

  async find(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<Repository> {
    return await this.#on(access, name, { doing: "read", signal }, (call) => readRepository(call, name));
  }

  async create(
    access: HostAccess,
    given: { readonly owner?: string | undefined; readonly name: string; readonly private: boolean },
    signal: AbortSignal,
  ): Promise<Repository> {
    const action = `create the repository "${given.name}"`;
    const { isOwn, owner } = await this.#creator(access, given.owner, action, signal);
    const notFound = () => refusedByHost(action, `there is no organization "${owner}" that this login may use`);
    return await this.#clients.as(access, { action, signal, notFound }, async (call) => {
      const settings = { name: given.name, private: given.private, auto_init: true };
      const { data } = isOwn
        ? await call.send(({ rest }, options) => rest.repos.createForAuthenticatedUser({ ...settings, ...options }))
        : await call.send(({ rest }, options) => rest.repos.createInOrg({ org: owner, ...settings, ...options }));
      return repositoryFrom(data);
    });
  }

  async remove(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<void> {
    await this.#on(access, name, { doing: "delete", signal }, (call) =>
      call.send(({ rest }, options) => rest.repos.delete({ ...name, ...options })),
    );
  }

  async branches(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<readonly Branch[]> {
    return await this.#on(access, name, { doing: "list the branches of", signal }, (call) =>
      call.list(
        `branches ${fullName(name)}`,
        ({ rest }, options) => rest.repos.listBranches({ ...name, ...options }),
        (data) =>
          data.map(({ name: branch, commit, protected: isProtected }) => ({
            name: textIn(branch),
            sha: textIn(commit?.sha),
            protected: isProtected === true,
          })),
      ),
    );
  }

  async files(
    access: HostAccess,
    name: RepositoryName,
    at: RepositoryPath,
    signal: AbortSignal,
  ): Promise<readonly FileEntry[]> {
    const notFound = (call: HostCall) => whyMissing(call, name, at, "folder");
    return await this.#on(access, name, { doing: "read", signal, notFound }, (call) => readFolder(call, name, at));
  }

  async file(
    access: HostAccess,
    name: RepositoryName,
    at: RepositoryPath,
    signal: AbortSignal,
  ): Promise<RepositoryFile> {
    const notFound = (call: HostCall) => whyMissing(call, name, at, "file");
    return await this.#on(access, name, { doing: "read", signal, notFound }, (call) => readFile(call, name, at));
  }

  async cloneToken(
    installationId: number,
    name: RepositoryName,
    signal: AbortSignal,
  ): Promise<{ readonly token: Secret; readonly expiresAt: Date }> {
    const access = { kind: "installation", installationId } as const;
    return await this.#on(access, name, { doing: "clone", signal }, async (call) => {
      // By its id, because the host takes names without their owner.
      const { id: repositoryId } = await readRepository(call, name);
      const tokens = await this.#clients.tokens();
      const limits = { repositoryId, permissions: { contents: "read" } } as const;
      return await tokens.limited(installationId, limits).catch((error: unknown) => {
        throw hasStatus(error, 422) && /repositor/i.test(wordsOf(error, [])) ? repositoryNotFound(name) : error;
      });
    });
  }

  async #on<T>(
    access: HostAccess,
    name: RepositoryName,
    operation: {
      readonly doing: string;
      readonly signal: AbortSignal;
      readonly notFound?: (call: HostCall) => Promise<Error>;
    },
    work: (call: HostCall) => Promise<T>,
  ): Promise<T> {
    const { doing, signal, notFound = () => repositoryNotFound(name) } = operation;
    const action = `${doing} the repository "${fullName(name)}"`;
    return await this.#clients.as(access, { action, signal, notFound }, async (call) => {
      if (!isRepositoryName(name)) throw repositoryNotFound(name);
      return await work(call);
    });
  }

  /** Returns who gets a new repository: the user itself, or an organization. */
  async #creator(
    access: HostAccess,
    owner: string | undefined,
    action: string,
    signal: AbortSignal,
  ): Promise<{ readonly isOwn: boolean; readonly owner: string }> {
    if (owner !== undefined && !isRepositoryName({ owner, repo: "any" }))
      throw refusedByHost(action, `"${owner}" is no account`);
    const account = await this.#account(access, action, signal);
    const isOwn = owner === undefined || owner.toLowerCase() === account.login.toLowerCase();
    return isOwn ? { isOwn: account.type === "User", owner: account.login } : { isOwn: false, owner };
  }

  async #account(access: HostAccess, action: string, signal: AbortSignal) {
    if (access.kind === "token")
      return await this.#clients.as(access, { action, signal }, async (call) => {
        const { data } = await call.send(({ rest }, options) => rest.users.getAuthenticated(options));
        return { login: data.login, type: "User" };
      });
    return await this.#clients.installationAccount(access.installationId, { action, signal });
  }
}
