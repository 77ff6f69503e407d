import { Failure, invalid } from "../../domain/failure.ts";
import { hostKeyFingerprint } from "../../domain/projects/deploy_key.ts";
import { sshHost } from "../../domain/projects/ssh_host.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Commit } from "../../domain/deployments/commit.ts";
import type { FetchableSource, FetchTarget, Sources } from "../../ports/projects/sources.ts";

/** A file tree by relative path. */
export type SourceFiles = Readonly<Record<string, string>>;

/** A commit, with the branches that point to it. */
export interface MemoryCommit {
  readonly sha: string;
  readonly message: string;
  readonly branches: readonly string[];
  readonly files: SourceFiles;
}

/** A repository. Its first commit is the tip of its default branch. */
export interface MemoryRepository {
  readonly commits: readonly MemoryCommit[];
  /** The credential that is required to read it. */
  readonly credential?: Secret;
  /** Its SSH server: the key that it presents, as type and base64, and the public key that may log in. */
  readonly ssh?: { readonly hostKey: string; readonly authorizedKey: string };
}

interface Known {
  readonly git: Record<string, MemoryRepository>;
  readonly local: Record<string, SourceFiles>;
  readonly upload: Record<string, SourceFiles>;
}

/** Simulated sources. Passes fetched files to `write`, one by one. Also looks up uploads with `uploaded`. */
export class MemorySources implements Sources {
  /** Known sources, by URL, path or upload session. May be changed at any time. */
  readonly known: Known;
  readonly #write: (folder: string, path: string, content: string) => void;
  readonly #uploaded: (uploadId: string) => SourceFiles | undefined;

  constructor(
    known: Partial<Known> = {},
    write: (folder: string, path: string, content: string) => void = () => {},
    uploaded: (uploadId: string) => SourceFiles | undefined = () => undefined,
  ) {
    this.known = { git: {}, local: {}, upload: {}, ...known };
    this.#write = write;
    this.#uploaded = uploaded;
  }

  async fetch(source: FetchableSource, into: FetchTarget): Promise<Commit> {
    into.signal.throwIfAborted();
    if (source.kind === "git") await logIn(source.url, this.known.git[source.url]?.ssh, into);
    const credential = source.kind === "git" ? await into.credentialFor?.(source.url) : undefined;
    const { files, commit } = this.#find(source, credential);
    for (const [path, content] of Object.entries(files)) this.#write(into.folder, path, content);
    await into.log(`Fetched ${Object.keys(files).length} files`, "stdout");
    into.signal.throwIfAborted();
    return { commitSha: commit?.sha ?? null, commitMessage: commit?.message ?? null };
  }

  #find(source: FetchableSource, credential: Secret | undefined): { files: SourceFiles; commit?: MemoryCommit } {
    switch (source.kind) {
      case "git": {
        const commit = commitOf(this.known.git[source.url], source, credential);
        return { files: commit.files, commit };
      }
      case "local":
        return { files: this.known.local[source.path] ?? fail("local_source_gone", "Cannot copy the folder: none") };
      case "upload": {
        const files = this.known.upload[source.uploadId] ?? this.#uploaded(source.uploadId);
        if (files) return { files };
        throw new Failure("not_found", "upload_gone", "Cannot use this upload: its files are not kept any more");
      }
    }
  }
}

async function logIn(url: string, server: MemoryRepository["ssh"], { ssh }: FetchTarget): Promise<void> {
  const host = sshHost(url);
  if (host === undefined || !server) return;
  const login = ssh?.login;
  const known = login?.hostKeys.find((hostKey) => hostKey.host === host);
  const pinned = known ?? (await login?.pinHostKey(host, server.hostKey));
  if (pinned && pinned.key !== server.hostKey) {
    const why = `${hostKeyFingerprint(server.hostKey)}, not ${pinned.fingerprint}: DELETE ${ssh?.deployKeyPath}/host-keys/${host}`;
    throw new Failure(
      "remote_failed",
      "git_host_key_changed",
      `Cannot clone the repository: its server presents ${why}`,
    );
  }
  if (login?.publicKey === server.authorizedKey) return;
  const advice = login ? `add ${login.publicKey}` : `POST ${ssh?.deployKeyPath ?? "/api/projects/:id/deploy-key"}`;
  fail("git_auth_failed", `Cannot clone the repository: the git server requires a login; ${advice}`);
}

function commitOf(
  repository: MemoryRepository | undefined,
  { branch, commit }: Extract<FetchableSource, { kind: "git" }>,
  credential: Secret | undefined,
): MemoryCommit {
  if (branch?.startsWith("-")) fail("git_branch_refused", "Cannot clone the repository: no valid branch");
  if (!repository) return fail("git_not_found", "Cannot clone the repository: there is none");
  if (repository.credential && repository.credential.reveal() !== credential?.reveal()) {
    return fail("git_auth_failed", "Cannot clone the repository: the host requires a login");
  }
  const { commits } = repository;
  if (commit !== null) {
    const found = commits.find(({ sha }) => sha.startsWith(commit));
    return found ?? fail("git_commit_not_found", "Cannot clone the repository: it does not have this commit");
  }
  const found = branch === null ? commits[0] : commits.find(({ branches }) => branches.includes(branch));
  return found ?? fail("git_branch_not_found", "Cannot clone the repository: it has no such branch");
}

function fail(code: string, message: string): never {
  throw invalid(code, message);
}
