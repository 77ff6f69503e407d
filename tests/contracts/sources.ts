import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../domain/failure.ts";
import {
  hostKeyFingerprint,
  newDeployKey,
  type PinnedHostKey,
  pinnedHostKey,
} from "../../domain/projects/deploy_key.ts";
import { Secret } from "../../domain/secret.ts";
import type { FetchableSource, FetchTarget, Sources, SshAccess, SshLogin } from "../../ports/projects/sources.ts";

/** The first and the last commit on `main`, and one on the branch `feature/ünïcode`. */
export const COMMITS = {
  first: { message: "first", files: { "index.html": "one" } },
  last: { message: "last", files: { "index.html": "two", "src/a.js": "a" } },
  feature: { message: "a feature", files: { "index.html": "feature" } },
} as const;
export const FEATURE = "feature/ünïcode";
export const LOCAL_FILES = { "index.html": "local", "src/a.js": "b" } as const;
export const UPLOADED_FILES = { "index.html": "uploaded" } as const;
export const PASSWORD = "canary-5f3c1d+/= token";

/** An adapter under test, with sources to fetch. */
export interface SourcesFixture extends AsyncDisposable {
  readonly sources: Sources;
  newFolder(): Promise<string>;
  /** The files that were fetched into a folder. */
  filesIn(folder: string): Promise<Record<string, string>>;
  /** A public repository with `COMMITS`. */
  readonly repository: { readonly url: string; readonly shas: Readonly<Record<keyof typeof COMMITS, string>> };
  /** A repository with the same files that requires `PASSWORD`. */
  readonly privateUrl: string;
  readonly missingUrl: string;
  readonly ssh: SshServerFixture;
  readonly localPath: string;
  readonly uploadId: string;
}

/** An SSH server with a repository that has the files of the last commit. */
export interface SshServerFixture {
  readonly url: string;
  /** Its name in pinned host keys. */
  readonly host: string;
  /** Lets only this public key log in. */
  authorize(publicKey: string): Promise<void>;
  /** The key that it presents, as type and base64. */
  hostKey(): string;
  changeHostKey(): Promise<void>;
}

type GitSource = Extract<FetchableSource, { kind: "git" }>;

/** Contract tests for `Sources` adapters that support all kinds of sources. */
export function sourcesContract(name: string, open: () => Promise<SourcesFixture>) {
  describe(`Sources contract: ${name}`, () => {
    let fixture: SourcesFixture;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(async () => {
      await fixture?.[Symbol.asyncDispose]();
    });

    const fetch = async (source: FetchableSource, options: Partial<FetchTarget> = {}) => {
      const folder = await fixture.newFolder();
      const lines: string[] = [];
      const log = (line: string) => void lines.push(line);
      const fetched = await fixture.sources.fetch(source, {
        folder,
        signal: new AbortController().signal,
        log,
        ...options,
      });
      return { fetched, files: await fixture.filesIn(folder), lines };
    };
    const failureOf = async (source: FetchableSource, options: Partial<FetchTarget> = {}) => {
      const error: unknown = await fetch(source, options).then(
        () => new Error("it succeeded"),
        (reason: unknown) => reason,
      );
      if (!(error instanceof Failure)) throw error;
      expect(error.message).toStartWith("Cannot ");
      return error;
    };
    const git = (change: Partial<GitSource> = {}): GitSource => ({
      kind: "git",
      url: fixture.repository.url,
      branch: null,
      commit: null,
      ...change,
    });
    const overSsh = () => git({ url: fixture.ssh.url });
    const commitOf = (which: keyof typeof COMMITS) => ({
      fetched: { commitSha: fixture.repository.shas[which], commitMessage: COMMITS[which].message },
      files: { ...COMMITS[which].files },
    });

    test("fetch() fetches the tip of the default branch, and logs it", async () => {
      const { lines, ...found } = await fetch(git());
      expect(found).toEqual(commitOf("last"));
      expect(lines.length).toBeGreaterThan(0);
    });

    test("fetch() fetches the tip of a branch", async () => {
      expect(await fetch(git({ branch: "main" }))).toMatchObject(commitOf("last"));
      expect(await fetch(git({ branch: FEATURE }))).toMatchObject(commitOf("feature"));
    });

    test("fetch() fetches an exact commit, regardless of the branch", async () => {
      const { first, feature } = fixture.repository.shas;
      expect(await fetch(git({ branch: "main", commit: first }))).toMatchObject(commitOf("first"));
      expect(await fetch(git({ commit: feature }))).toMatchObject(commitOf("feature"));
      expect(await fetch(git({ commit: first.slice(0, 10) }))).toMatchObject(commitOf("first"));
    });

    test("fetch() reports a missing branch, commit or repository", async () => {
      expect((await failureOf(git({ branch: "nothing" }))).code).toBe("git_branch_not_found");
      expect((await failureOf(git({ commit: "0123456789".repeat(4) }))).code).toBe("git_commit_not_found");
      expect((await failureOf(git({ url: fixture.missingUrl }))).code).toBe("git_not_found");
    });

    test("fetch() refuses an option as a branch", async () => {
      const failure = await failureOf(git({ branch: "--upload-pack=/bin/true" }));
      expect([failure.kind, failure.code]).toEqual(["invalid", "git_branch_refused"]);
    });

    test("fetch() fetches a private repository with its credential only", async () => {
      const source = git({ url: fixture.privateUrl });
      const { fetched, files, lines } = await fetch(source, { credentialFor: async () => new Secret(PASSWORD) });
      expect(fetched.commitMessage).toBe(COMMITS.last.message);
      expect(files).toEqual({ ...COMMITS.last.files });
      expect(lines.join("\n")).not.toContain(PASSWORD);
      expect((await failureOf(source)).code).toBe("git_auth_failed");
      const failure = await failureOf(source, { credentialFor: async () => new Secret("wrong-canary") });
      expect(failure.code).toBe("git_auth_failed");
      expect(failure.message).not.toContain("wrong-canary");
    });

    describe("over SSH", () => {
      const PATH = "/api/projects/prj_1/deploy-key";
      const pinned = new Map<string, PinnedHostKey>();
      beforeEach(() => pinned.clear());
      const accessWith = async (change: Partial<SshLogin> = {}): Promise<SshAccess & { readonly login: SshLogin }> => {
        const { deployKey, privateKey } = await newDeployKey({ id: "prj_1", slug: "shop" }, new Date(0));
        const pinHostKey = async (host: string, key: string) => {
          if (!pinned.has(host)) pinned.set(host, pinnedHostKey(host, key, new Date(0))!);
          return pinned.get(host);
        };
        const hostKeys = [...pinned.values()];
        const login = { privateKey, publicKey: deployKey.publicKey, hostKeys, pinHostKey, ...change };
        return { deployKeyPath: PATH, login };
      };
      test("fetch() logs in with the deploy key, and pins the key of the server", async () => {
        const access = await accessWith();
        await fixture.ssh.authorize(access.login.publicKey);
        const { files, fetched } = await fetch(overSsh(), { ssh: access });
        expect([files, fetched.commitMessage]).toEqual([{ ...COMMITS.last.files }, COMMITS.last.message]);
        expect([...pinned.values()]).toMatchObject([{ host: fixture.ssh.host, key: fixture.ssh.hostKey() }]);
        const again = { ...access, login: { ...access.login, hostKeys: [...pinned.values()] } };
        expect((await fetch(overSsh(), { ssh: again })).files).toEqual({ ...COMMITS.last.files });
        expect(pinned.size).toBe(1);
      });

      test("fetch() says what to do when there is no deploy key, or the server does not know it", async () => {
        const access = await accessWith();
        await fixture.ssh.authorize((await accessWith()).login.publicKey);
        const unknown = await failureOf(overSsh(), { ssh: access });
        expect(unknown.code).toBe("git_auth_failed");
        expect(unknown.message).toContain(access.login.publicKey);
        const none = await failureOf(overSsh(), { ssh: { deployKeyPath: PATH } });
        expect(none.code).toBe("git_auth_failed");
        expect(none.message).toContain(`POST ${PATH}`);
        expect((await failureOf(overSsh())).message).toContain("POST /api/projects/:id/deploy-key");
      });

      test("fetch() refuses a server whose key has changed, naming both fingerprints and how to forget it", async () => {
        const access = await accessWith();
        await fixture.ssh.authorize(access.login.publicKey);
        await fetch(overSsh(), { ssh: access });
        const former = pinned.get(fixture.ssh.host)!;
        await fixture.ssh.changeHostKey();
        const changed = { ...access, login: { ...access.login, hostKeys: [former] } };
        const failure = await failureOf(overSsh(), { ssh: changed });
        expect([failure.kind, failure.code]).toEqual(["remote_failed", "git_host_key_changed"]);
        expect(failure.message).toContain(former.fingerprint);
        expect(failure.message).toContain(hostKeyFingerprint(fixture.ssh.hostKey())!);
        expect(failure.message).toContain(`DELETE ${PATH}/host-keys/${fixture.ssh.host}`);
        pinned.clear();
        expect((await fetch(overSsh(), { ssh: access })).files).toEqual({ ...COMMITS.last.files });
      });

      test("fetch() refuses a server if another key was pinned for it meanwhile", async () => {
        const other = pinnedHostKey(fixture.ssh.host, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", new Date(0));
        const access = await accessWith({ pinHostKey: async () => other });
        await fixture.ssh.authorize(access.login.publicKey);
        const failure = await failureOf(overSsh(), { ssh: access });
        expect(failure.code).toBe("git_host_key_changed");
        for (const { fingerprint } of [other!, { fingerprint: hostKeyFingerprint(fixture.ssh.hostKey())! }])
          expect(failure.message).toContain(fingerprint);
      });
    });

    test("fetch() fetches a folder of the machine", async () => {
      const { fetched, files } = await fetch({ kind: "local", path: fixture.localPath });
      expect(fetched).toEqual({ commitSha: null, commitMessage: null });
      expect(files).toEqual({ ...LOCAL_FILES });
      const failure = await failureOf({ kind: "local", path: `${fixture.localPath}/not there` });
      expect(failure.code).toBe("local_source_gone");
    });

    test("fetch() fetches the same files when they may be shared", async () => {
      const upload = await fetch({ kind: "upload", uploadId: fixture.uploadId }, { shared: true });
      expect(upload.files).toEqual(UPLOADED_FILES);
      const local = await fetch({ kind: "local", path: fixture.localPath }, { shared: true });
      expect(local.files).toEqual(LOCAL_FILES);
    });

    test("fetch() fetches an upload, more than once", async () => {
      for (let turn = 0; turn < 2; turn++) {
        const { fetched, files } = await fetch({ kind: "upload", uploadId: fixture.uploadId });
        expect(fetched).toEqual({ commitSha: null, commitMessage: null });
        expect(files).toEqual({ ...UPLOADED_FILES });
      }
      const failure = await failureOf({ kind: "upload", uploadId: "upl_unknown" });
      expect([failure.kind, failure.code]).toEqual(["not_found", "upload_gone"]);
    });

    test("fetch() rejects with the reason of the signal when aborted", async () => {
      const signal = AbortSignal.abort(new Error("no longer needed"));
      const sources: FetchableSource[] = [
        git(),
        { kind: "local", path: fixture.localPath },
        { kind: "upload", uploadId: fixture.uploadId },
      ];
      for (const source of sources) await expect(fetch(source, { signal })).rejects.toThrow("no longer needed");
      const abort = new AbortController();
      const log = () => abort.abort(new Error("enough"));
      await expect(fetch(git(), { signal: abort.signal, log })).rejects.toThrow("enough");
    });
  });
}
