import { mkdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { Failure, invalid } from "../../domain/failure.ts";
import { isBranchName } from "../../domain/projects/project.ts";
import type { Commit } from "../../domain/deployments/commit.ts";
import type { FetchableSource, FetchTarget, Sources } from "../../ports/projects/sources.ts";
import { type GitAddress, gitAddress } from "./git_address.ts";
import { GitCheckout, type GitOptions } from "./git_checkout.ts";
import { runGit } from "./git_program.ts";
import { removeGitMetadata } from "./remove_git_metadata.ts";
import { SshClient } from "./ssh_client.ts";
import { updateSubmodules } from "./submodules.ts";

type GitSource = Extract<FetchableSource, { kind: "git" }>;

/** The local ref of the fetched commit, a name that no repository uses. */
const FETCHED = "refs/slipway/source";
const WHOLE_COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const COMMIT = /^[0-9a-f]{7,64}$/;
/** Failures that fetching the whole history may fix. */
const NOT_ALONE = new Set(["git_commit_not_found", "git_branch_not_found", "git_failed"]);
const MESSAGE_LENGTH = 500;

/**
 * Clones with the `git` program: shallow (depth 1) where the host supports it, with submodules, leaving no git metadata
 * in the folder.
 */
export class GitSources implements Sources<"git"> {
  readonly #options: GitOptions;
  #lfs: Promise<boolean> | undefined;

  constructor(options: GitOptions) {
    this.#options = options;
  }

  async fetch(source: GitSource, into: FetchTarget): Promise<Commit> {
    into.signal.throwIfAborted();
    const address = gitAddress(source.url, { allowHttp: this.#options.allowHttp ?? false });
    check(source);
    try {
      await mkdir(dirname(this.#options.knownHostsFile), { recursive: true });
      const lfs = this.#options.resolveAddress === undefined && (await this.#hasLfs(into));
      await using ssh = await sshClient(address, into, this.#options);
      const checkout = new GitCheckout(address, into, { ...this.#options, lfs, ssh });
      return await bringIn(checkout, source, lfs);
    } catch (error) {
      if (into.signal.aborted || error instanceof Failure) throw error;
      const reason = "the disk of this server failed; its log says why";
      throw new Failure("unavailable", "storage_failed", `Cannot clone the repository: ${reason}`, { cause: error });
    }
  }

  /** Returns whether Git LFS is installed. Cached, unless the check failed. */
  async #hasLfs({ folder, signal }: FetchTarget): Promise<boolean> {
    const environment = { LC_ALL: "C", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
    this.#lfs ??= runGit({ arguments: ["lfs", "version"], folder, environment, signal }).then(({ code }) => code === 0);
    return this.#lfs.catch((error: unknown) => {
      this.#lfs = undefined;
      throw error;
    });
  }
}

/** Opens the settings of a login over SSH; `undefined` where there is none. */
async function sshClient(
  address: GitAddress,
  { ssh: access }: FetchTarget,
  { temporaryFolder = tmpdir() }: GitOptions,
): Promise<SshClient | undefined> {
  const login = access?.login;
  return login && address.protocol === "ssh" ? SshClient.open(address, { access, login, temporaryFolder }) : undefined;
}

function check({ branch, commit }: GitSource): void {
  if (branch !== null && !isBranchName(branch)) {
    throw invalid("git_branch_refused", "Cannot clone the repository: this is not a valid name of a branch");
  }
  if (commit !== null && !COMMIT.test(commit)) {
    throw invalid("git_commit_refused", "Cannot clone the repository: a commit is named by 7 to 64 hexadecimal digits");
  }
}

async function bringIn(checkout: GitCheckout, source: GitSource, lfs: boolean): Promise<Commit> {
  const { url, branch, commit } = source;
  await checkout.say(
    `Cloning ${url}${branch === null ? "" : `, branch ${branch}`}${commit === null ? "" : `, commit ${commit}`}`,
  );
  await checkout.git({ arguments: ["init", "--quiet", "--template="] });
  await checkout.git({ arguments: ["remote", "add", "--", "origin", url] });
  if (commit === null) await fetchRef(checkout, branch === null ? "HEAD" : `refs/heads/${branch}`, branch);
  else await fetchCommit(checkout, commit);
  const action = "check out the repository";
  await checkout.git({ arguments: ["checkout", "--quiet", "--force", "--detach", FETCHED, "--"], action });
  await updateSubmodules(checkout);
  const fetched = await describe(checkout);
  await removeGitMetadata(checkout.folder, checkout.signal);
  if (!lfs) await warnOfPointers(checkout);
  await checkout.say(`Checked out ${fetched.commitSha?.slice(0, 12)} ${fetched.commitMessage}`);
  return fetched;
}

async function fetchRef(checkout: GitCheckout, ref: string, branch: string | null): Promise<void> {
  const words = ["fetch", "--progress", "--depth=1", "--no-tags", "--", "origin", `+${ref}:${FETCHED}`];
  await checkout.git({ arguments: words, branch });
}

/**
 * Fetches the single commit. Falls back to the whole history for hosts that only serve branches, and for abbreviated
 * hashes.
 */
async function fetchCommit(checkout: GitCheckout, commit: string): Promise<void> {
  if (WHOLE_COMMIT.test(commit)) {
    try {
      return await fetchRef(checkout, commit, null);
    } catch (error) {
      if (!(error instanceof Failure && NOT_ALONE.has(error.code))) throw error;
    }
  }
  const all = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];
  await checkout.git({ arguments: ["fetch", "--progress", "--no-tags", "--", "origin", ...all] });
  const words = ["update-ref", FETCHED];
  const found = await checkout.try({ arguments: ["rev-parse", "--verify", "--quiet", `${commit}^{commit}`] });
  if (found.code !== 0) {
    const reason = "it does not have this commit any more; deploy the branch instead";
    throw invalid("git_commit_not_found", `Cannot clone the repository: ${reason}`);
  }
  await checkout.git({ arguments: [...words, found.output.trim()] });
}

async function describe(checkout: GitCheckout): Promise<Commit> {
  const words = ["log", "-1", "--encoding=UTF-8", "--no-show-signature", "--format=%H%n%B", FETCHED, "--"];
  const [commitSha = "", message = ""] = (await checkout.git({ arguments: words })).split("\n");
  return { commitSha, commitMessage: message.slice(0, MESSAGE_LENGTH).toWellFormed() };
}

async function warnOfPointers(checkout: GitCheckout): Promise<void> {
  const attributes = await readFile(`${checkout.folder}/.gitattributes`, "utf8").catch(() => "");
  if (/\bfilter=lfs\b/.test(attributes)) {
    await checkout.say(
      "This repository keeps files with Git LFS, which is not available here: their pointer files stay",
    );
  }
}
