import {
  hostFailed,
  loginExpired,
  rateLimited,
  refusedByHost,
  repositoryNotFound,
} from "../../domain/githost/host_failures.ts";
import type { CommitStatus } from "../../domain/githost/commit_status.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { GitAccount, Repository, RepositoryName } from "../../domain/githost/repository.ts";
import { Secret } from "../../domain/secret.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { MemoryClock } from "./clock.ts";
import {
  type MemoryDeviceLogin,
  type MemoryFiles,
  type MemoryGitHostFault,
  type MemoryInstallation,
  type MemoryRepository,
  type MemoryRepositorySpec,
  type MemoryTokenOwner,
  repositoryOf,
} from "./git_host_data.ts";
import { APP_AUTHOR, followBranches, type MemoryComment, type MemoryPullRequest } from "./host_pull_requests.ts";

/** The scopes of tokens that are issued without others. */
export const ALL_SCOPES: readonly string[] = ["admin:repo_hook", "delete_repo", "read:org", "repo"];

/** A git host in memory that tests set up: the memory adapters of the git host's ports share one. */
export class MemoryGitHostState {
  readonly webUrl: string;
  readonly clock: Clock;
  fault: MemoryGitHostFault | null = null;
  /** Logs the command-line client of this machine in. */
  commandLineToken: Secret | undefined;
  readonly accounts = new Map<string, GitAccount>();
  /** Roles of members, by `organization/login`. */
  readonly members = new Map<string, "admin" | "member">();
  readonly repositories = new Map<string, MemoryRepository>();
  readonly installations = new Map<number, MemoryInstallation>();
  readonly tokens = new Map<string, MemoryTokenOwner>();
  /** Owners of refresh tokens and of the codes of callbacks; each works once. */
  readonly refreshTokens = new Map<string, string>();
  readonly codes = new Map<string, string>();
  readonly devices = new Map<string, MemoryDeviceLogin>();
  /** The repositories that clone tokens can read. */
  readonly cloneTokens = new Map<string, RepositoryName>();
  #numbers = 1_000;

  constructor(clock: Clock = new MemoryClock(), webUrl = "https://git.example.com") {
    this.clock = clock;
    this.webUrl = webUrl;
  }

  number(): number {
    return ++this.#numbers;
  }

  /** Returns a digest in the form of a git object id. */
  sha(text: string | Uint8Array): string {
    return new Bun.CryptoHasher("sha1").update(text).digest("hex");
  }

  addAccount(login: string, type: GitAccount["type"] = "User"): GitAccount {
    const account = { login, id: this.number(), type, avatarUrl: `${this.webUrl}/avatars/${login}` };
    this.accounts.set(login.toLowerCase(), account);
    return account;
  }

  addMember(organization: string, login: string, role: "admin" | "member" = "admin"): void {
    this.members.set(`${organization}/${login}`.toLowerCase(), role);
  }

  issueToken(login: string, { scopes = ALL_SCOPES }: { readonly scopes?: readonly string[] } = {}): Secret {
    const token = `ghx_memory_${login}_${this.number()}`;
    this.tokens.set(token, { login, scopes, expiresAt: null });
    return new Secret(token);
  }

  revokeToken(token: Secret): void {
    this.tokens.delete(token.reveal());
  }

  addRepository(spec: MemoryRepositorySpec): Repository {
    const path = `${spec.owner}/${spec.name}`;
    const made = repositoryOf(spec, {
      id: this.number(),
      url: `${this.webUrl}/${path}`,
      pushedAt: this.clock.now(),
      shaOf: (branch) => this.sha(`${path} ${branch} ${this.number()}`),
    });
    this.repositories.set(path.toLowerCase(), made);
    return made.repository;
  }

  /** Returns the commit at the tip of a branch. */
  tipOf({ owner, repo }: RepositoryName, branch: string): string {
    return this.repositories.get(`${owner}/${repo}`.toLowerCase())?.branches.get(branch)?.sha ?? "";
  }

  /** Returns all statuses that were set for a commit, oldest first. */
  statusesOf({ owner, repo }: RepositoryName, sha: string): readonly CommitStatus[] {
    return this.repositories.get(`${owner}/${repo}`.toLowerCase())?.statuses.get(sha) ?? [];
  }

  /** Commits files to a branch, which begins at the default branch if it is new. Returns the commit. */
  async commitTo(name: RepositoryName, branch: string, files: MemoryFiles): Promise<string> {
    const found = this.existing(name);
    const before = found.branches.get(branch);
    const base = before ?? found.branches.get(found.repository.defaultBranch);
    const sha = this.sha(`${found.repository.fullName} ${branch} ${this.number()}`);
    const all = { ...base?.files, ...files };
    found.branches.set(branch, { sha, protected: before?.protected ?? false, files: all });
    followBranches(this.repositories.values(), found);
    return sha;
  }

  /** Opens a pull request from a branch of the repository, or from one of a fork. */
  async openPullRequest(
    name: RepositoryName,
    { branch, fork = name }: { readonly branch: string; readonly fork?: RepositoryName },
  ): Promise<MemoryPullRequest> {
    const { pulls } = this.existing(name);
    const { repository, branches } = this.existing(fork);
    const tip = branches.get(branch);
    if (!tip) throw new Error(`There is no branch ${branch}`);
    const pull = { number: pulls.size + 1, repositoryId: repository.id, branch, heads: [tip.sha] };
    pulls.set(pull.number, pull);
    return pull;
  }

  /** Commits files to the branch of a pull request. Returns the commit. */
  async pushToPullRequest(name: RepositoryName, number: number, files: MemoryFiles): Promise<string> {
    const pull = this.existing(name).pulls.get(number);
    const head = this.repositories.values().find(({ repository }) => repository.id === pull?.repositoryId);
    if (!pull || !head) throw new Error(`There is no branch of the pull request ${number}`);
    return await this.commitTo({ owner: head.repository.owner, repo: head.repository.name }, pull.branch, files);
  }

  /** Adds a comment to a pull request. Returns its id. */
  addComment(
    name: RepositoryName,
    number: number,
    { author, body }: { readonly author: string; readonly body: string },
  ): number {
    const id = this.number();
    this.existing(name).comments.set(id, { id, number, author, body });
    return id;
  }

  removeComment(name: RepositoryName, id: number): void {
    this.existing(name).comments.delete(id);
  }

  /** Returns the comments on a pull request, oldest first. */
  commentsOf(name: RepositoryName, number: number): readonly MemoryComment[] {
    return [...this.existing(name).comments.values()].filter((each) => each.number === number);
  }

  /** Returns a repository that a test has added. */
  protected existing({ owner, repo }: RepositoryName): MemoryRepository {
    const found = this.repositories.get(`${owner}/${repo}`.toLowerCase());
    if (!found) throw new Error(`There is no repository ${owner}/${repo}`);
    return found;
  }

  /** Installs the app on an account, on all its repositories or on those with these names. Returns its id. */
  install(account: string, repositories: "all" | readonly string[] = "all"): number {
    const id = this.number();
    const found = this.accounts.get(account.toLowerCase()) ?? this.addAccount(account);
    const createdAt = this.clock.now();
    this.installations.set(id, { id, account: found, createdAt, suspended: false, repositories });
    return id;
  }

  suspend(id: number, suspended: boolean): void {
    const installation = this.installations.get(id);
    if (installation) this.installations.set(id, { ...installation, suspended });
  }

  uninstall(id: number): void {
    this.installations.delete(id);
  }

  /** Lets a user authorize the app on the git host. Returns the code for the callback. */
  authorize(login: string): string {
    const code = `code-${this.number()}`;
    this.codes.set(code, login);
    return code;
  }

  /** Lets a user enter the code of a device login, or deny it; or lets it expire. */
  decideDevice(userCode: string, decision: { readonly login: string } | "denied" | "expired"): void {
    for (const device of this.devices.values()) if (device.userCode === userCode) device.state = decision;
  }

  fail(fault: MemoryGitHostFault | null): void {
    this.fault = fault;
  }

  /** Begins a request: throws the signal's reason or the scripted fault. */
  enter(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.fault === "down") throw hostFailed("it cannot be reached");
    if (this.fault) throw rateLimited(this.fault.rateLimitedForSeconds);
  }

  /** Begins a request with an access, which has to be valid. */
  enterAs(access: HostAccess, signal: AbortSignal): void {
    this.enter(signal);
    if (access.kind === "token") this.owner(access.token);
    else if (this.installation(access.installationId).suspended)
      throw refusedByHost("use the git host", "This installation has been suspended");
  }

  /** Issues tokens for a user that authorized the app. */
  grant(login: string): OAuthGrant {
    const expiresAt = new Date(this.clock.now().getTime() + 8 * 3_600_000);
    const token = this.issueToken(login, { scopes: [] });
    this.tokens.set(token.reveal(), { login, scopes: [], expiresAt });
    const refreshToken = new Secret(`ghr_memory_${login}_${this.number()}`);
    this.refreshTokens.set(refreshToken.reveal(), login);
    return { token, refreshToken, expiresAt };
  }

  /** Returns the owner of a valid token. */
  owner(token: Secret): MemoryTokenOwner {
    const owner = this.tokens.get(token.reveal());
    if (!owner || (owner.expiresAt && owner.expiresAt <= this.clock.now())) throw loginExpired();
    return owner;
  }

  /** Returns an installation that exists. */
  installation(id: number): MemoryInstallation {
    const installation = this.installations.get(id);
    if (!installation) throw loginExpired();
    return installation;
  }

  /** Returns a repository that an access can see. */
  visible(access: HostAccess, name: RepositoryName): MemoryRepository {
    const found = this.repositories.get(`${name.owner}/${name.repo}`.toLowerCase());
    if (!found || !(this.isOwn(access, found.repository) || !found.repository.private)) throw repositoryNotFound(name);
    return found;
  }

  /** Returns whether a repository is listed for an access. */
  isOwn(access: HostAccess, { owner, name, private: isPrivate }: Repository): boolean {
    if (access.kind === "installation") {
      const { account, repositories } = this.installation(access.installationId);
      const selected = repositories === "all" || repositories.includes(name);
      return account.login.toLowerCase() === owner.toLowerCase() && selected;
    }
    const { login, scopes } = this.owner(access.token);
    const isMember = login.toLowerCase() === owner.toLowerCase() || this.role(owner, login) !== undefined;
    return isMember && (!isPrivate || scopes.length === 0 || scopes.includes("repo"));
  }

  role(organization: string, login: string): "admin" | "member" | undefined {
    return this.members.get(`${organization}/${login}`.toLowerCase());
  }

  /** Returns whether an access may manage a repository: its owner, an admin of its organization, or the app. */
  mayManage(access: HostAccess, repository: Repository, byScopes: readonly string[]): boolean {
    if (!this.isOwn(access, repository)) return false;
    if (access.kind === "installation") return true;
    const { login, scopes } = this.owner(access.token);
    const isOwner = login.toLowerCase() === repository.owner.toLowerCase();
    const isAdmin = isOwner || this.role(repository.owner, login) === "admin";
    return isAdmin && (scopes.length === 0 || byScopes.some((scope) => scopes.includes(scope)));
  }

  /** Returns whether an access may set statuses of commits: the app, or who can push with a token for that. */
  mayReport(access: HostAccess, repository: Repository): boolean {
    if (!this.isOwn(access, repository)) return false;
    if (access.kind === "installation") return true;
    const { scopes } = this.owner(access.token);
    return scopes.length === 0 || scopes.includes("repo") || scopes.includes("repo:status");
  }

  /** Returns whether an access may comment on pull requests: the app, or who can see them with a token for that. */
  mayComment(access: HostAccess, repository: Repository): boolean {
    if (access.kind === "installation") return this.isOwn(access, repository);
    const { scopes } = this.owner(access.token);
    const byScope = scopes.includes("repo") || (!repository.private && scopes.includes("public_repo"));
    return (!repository.private || this.isOwn(access, repository)) && (scopes.length === 0 || byScope);
  }

  /** Returns whether an access may change a comment: its author, the app, or who can push. */
  mayChangeComment(access: HostAccess, repository: Repository, author: string): boolean {
    if (!this.mayComment(access, repository)) return false;
    return this.isOwn(access, repository) || this.authorOf(access) === author;
  }

  /** Returns who comments of an access are from. */
  authorOf(access: HostAccess): string {
    return access.kind === "installation" ? APP_AUTHOR : this.owner(access.token).login;
  }
}
