import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MAX_FILE_BYTES } from "../../domain/githost/repository.ts";
import { Secret } from "../../domain/secret.ts";
import type { GitRepositories } from "../../ports/githost/git_repositories.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { expectFaults, failureOf, type GitHostStage, LOGIN_EXPIRED, NEVER, REFUSED } from "./git_host_stage.ts";

const NOT_FOUND = { kind: "not_found", code: "repository_not_found" };
const BRANCH_NOT_FOUND = { kind: "not_found", code: "branch_not_found" };
const FILE_NOT_FOUND = { kind: "not_found", code: "file_not_found" };
const SHA = expect.stringMatching(/^[0-9a-f]{40}$/);
const SUBMODULE = "0123456789abcdef0123456789abcdef01234567";

/** Names that lead elsewhere, or nowhere, when they are put into a URL. */
const HOSTILE_NAMES = [
  "..",
  ".",
  "",
  "a/b",
  "../../user",
  "a b",
  "a\nb",
  "a\0b",
  "$(id)",
  "%2e%2e",
  "a?b",
  "a#b",
  "-x",
];
const HOSTILE_PATHS = [
  "..",
  "../../hooks",
  "a/../../..",
  "./x",
  "no\nline",
  "nul\0",
  "%2e%2e/x",
  "a?ref=b",
  "--x",
  "#",
];

/** Files of the repository that most tests read. */
const FILES = {
  "README.md": "# Site\n",
  "package.json": '{"name":"site"}\n',
  "src/main.ts": "export {};\n",
  "src/deep/ünï cödé.txt": "grün\n",
  "binary.bin": new Uint8Array([0, 255, 128, 10, 13, 0]),
  "empty.txt": "",
  link: { link: "no/such/target" },
  "vendored/part": { submodule: SUBMODULE },
};

/** Contract tests for `GitRepositories` adapters. */
export function gitRepositoriesContract(name: string, open: () => Promise<GitHostStage<GitRepositories>>) {
  describe(`GitRepositories contract: ${name}`, () => {
    let stage: GitHostStage<GitRepositories>;
    let repositories: GitRepositories;
    let token: Secret;
    let ada: HostAccess;
    const site = { owner: "ada", repo: "site" };

    beforeAll(async () => {
      stage = await open();
      repositories = stage.adapters;
      const { host } = stage;
      for (const login of ["ada", "bob"]) await host.addAccount(login);
      for (const login of ["acme", "other"]) await host.addAccount(login, "Organization");
      await host.addMember("acme", "ada", "admin");
      await host.addMember("acme", "bob", "member");
      const branches = { main: FILES, "feature/ä#1": { "README.md": "# Feature\n" } };
      const described = { description: "A site", language: "TypeScript", protectedBranches: ["main"] };
      await host.addRepository({ owner: "ada", name: "site", branches, ...described });
      await host.addRepository({ owner: "ada", name: "open", private: false });
      await host.addRepository({ owner: "acme", name: "shop" });
      await host.addRepository({ owner: "acme", name: "site" });
      await host.addRepository({ owner: "other", name: "hidden" });
      await host.addRepository({ owner: "other", name: "shown", private: false });
      token = await host.issueToken("ada");
      ada = { kind: "token", token };
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
    });

    const tokenOf = async (login: string, scopes?: readonly string[]): Promise<HostAccess> => ({
      kind: "token",
      token: await stage.host.issueToken(login, scopes ? { scopes } : {}),
    });
    const installed = async (account: string, names: "all" | readonly string[] = "all"): Promise<HostAccess> => ({
      kind: "installation",
      installationId: await stage.host.install(account, names),
    });
    const namesIn = async (access: HostAccess) =>
      (await repositories.list(access, NEVER)).map(({ fullName }) => fullName).toSorted();

    test("list() returns the repositories of a user and of its organizations", async () => {
      expect(await namesIn(ada)).toEqual(["acme/shop", "acme/site", "ada/open", "ada/site"]);
    });

    test("list() returns only public repositories for a token without the scope for private ones", async () => {
      expect(await namesIn(await tokenOf("ada", ["public_repo"]))).toEqual(["ada/open"]);
    });

    test("list() returns the repositories that the app is installed on", async () => {
      expect(await namesIn(await installed("acme"))).toEqual(["acme/shop", "acme/site"]);
      expect(await namesIn(await installed("acme", ["shop"]))).toEqual(["acme/shop"]);
    });

    test("list() returns the repositories of every page", async () => {
      await stage.host.addAccount("many");
      const names = Array.from({ length: 230 }, (_, index) => `repository-${index}`);
      for (const each of names) await stage.host.addRepository({ owner: "many", name: each });
      const expected = names.map((each) => `many/${each}`).toSorted();
      expect(await namesIn(await tokenOf("many"))).toEqual(expected);
      expect(await namesIn(await installed("many"))).toEqual(expected);
    });

    test("list() shows changes at once", async () => {
      await stage.host.addAccount("changing");
      const access = await tokenOf("changing");
      expect(await namesIn(access)).toEqual([]);
      await stage.host.addRepository({ owner: "changing", name: "first" });
      expect(await namesIn(access)).toEqual(["changing/first"]);
      await repositories.remove(access, { owner: "changing", repo: "first" }, NEVER);
      expect(await namesIn(access)).toEqual([]);
    });

    test("find() describes a repository", async () => {
      const found = await repositories.find(ada, site, NEVER);
      expect(found).toEqual({
        id: expect.any(Number),
        name: "site",
        fullName: "ada/site",
        owner: "ada",
        private: true,
        defaultBranch: "main",
        description: "A site",
        language: "TypeScript",
        htmlUrl: expect.stringMatching(/^https?:\/\/.*\/ada\/site$/),
        cloneUrl: expect.stringMatching(/^https?:\/\/.*\/ada\/site\.git$/),
        pushedAt: expect.any(Date),
      });
      expect((await repositories.list(ada, NEVER)).find(({ id }) => id === found.id)).toEqual(found);
    });

    test("find() accepts names in any case", async () => {
      expect(await repositories.find(ada, { owner: "ADA", repo: "Site" }, NEVER)).toMatchObject({
        fullName: "ada/site",
      });
    });

    test("find() sees public repositories of others", async () => {
      const found = await repositories.find(ada, { owner: "other", repo: "shown" }, NEVER);
      expect(found).toMatchObject({ private: false, description: null, language: null });
    });

    test("a repository that is missing and one that is hidden fail alike", async () => {
      const bob = await tokenOf("bob");
      for (const access of [bob, await installed("acme", ["shop"])]) {
        for (const hidden of [site, { owner: "other", repo: "hidden" }, { owner: "ada", repo: "missing" }]) {
          expect(await failureOf(repositories.find(access, hidden, NEVER))).toMatchObject(NOT_FOUND);
          expect(await failureOf(repositories.branches(access, hidden, NEVER))).toMatchObject(NOT_FOUND);
          expect(await failureOf(repositories.files(access, hidden, { path: "" }, NEVER))).toMatchObject(NOT_FOUND);
          const file = repositories.file(access, hidden, { path: "README.md", branch: "main" }, NEVER);
          expect(await failureOf(file)).toMatchObject(NOT_FOUND);
          expect(await failureOf(repositories.remove(access, hidden, NEVER))).toMatchObject(NOT_FOUND);
        }
      }
    });

    test.each(HOSTILE_NAMES)("the name %j is not found", async (hostile) => {
      for (const named of [
        { owner: "ada", repo: hostile },
        { owner: hostile, repo: "site" },
      ]) {
        expect(await failureOf(repositories.find(ada, named, NEVER))).toMatchObject(NOT_FOUND);
        expect(await failureOf(repositories.remove(ada, named, NEVER))).toMatchObject(NOT_FOUND);
        expect(await failureOf(repositories.branches(ada, named, NEVER))).toMatchObject(NOT_FOUND);
      }
    });

    test("create() creates a repository with a first commit for the user", async () => {
      const created = await repositories.create(ada, { name: "new-one", private: true }, NEVER);
      expect(created).toMatchObject({ fullName: "ada/new-one", owner: "ada", private: true });
      const named = { owner: "ada", repo: "new-one" };
      expect(await repositories.find(ada, named, NEVER)).toMatchObject({ id: created.id });
      const branches = await repositories.branches(ada, named, NEVER);
      expect(branches).toEqual([{ name: created.defaultBranch, sha: SHA, protected: false }]);
      const again = failureOf(
        repositories.create(ada, { owner: "Ada", name: "new-one", private: false }, NEVER),
        token,
      );
      const refused = await again;
      expect(refused).toMatchObject(REFUSED);
      expect(refused.message).toContain("already exists");
      await repositories.remove(ada, named, NEVER);
      expect(await failureOf(repositories.find(ada, named, NEVER))).toMatchObject(NOT_FOUND);
    });

    test("create() creates a repository for an organization, also as the app", async () => {
      const app = await installed("acme");
      for (const [access, given] of [
        [ada, { owner: "acme", name: "by-user", private: false }],
        [app, { owner: "acme", name: "by-app", private: true }],
        [app, { name: "by-app-alone", private: true }],
      ] as const) {
        const created = await repositories.create(access, given, NEVER);
        expect(created).toMatchObject({ fullName: `acme/${given.name}`, private: given.private });
        await repositories.remove(access, { owner: "acme", repo: given.name }, NEVER);
      }
    });

    test("create() refuses foreign and missing owners, and names that the host refuses", async () => {
      for (const owner of ["other", "missing", "..", "a/b"]) {
        const attempt = repositories.create(ada, { owner, name: "x", private: true }, NEVER);
        expect(await failureOf(attempt, token)).toMatchObject(REFUSED);
      }
      const asApp = repositories.create(await installed("ada"), { owner: "ada", name: "x", private: true }, NEVER);
      expect(await failureOf(asApp)).toMatchObject(REFUSED);
      expect(await failureOf(repositories.create(ada, { name: "", private: true }, NEVER))).toMatchObject(REFUSED);
    });

    test("remove() refuses those who may not delete the repository", async () => {
      const shop = { owner: "acme", repo: "shop" };
      for (const access of [await tokenOf("bob"), await tokenOf("ada", ["repo"])]) {
        expect(await failureOf(repositories.remove(access, shop, NEVER))).toMatchObject(REFUSED);
      }
      expect(await repositories.find(ada, shop, NEVER)).toMatchObject({ name: "shop" });
    });

    test("branches() returns branches of every page", async () => {
      expect((await repositories.branches(ada, site, NEVER)).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
        { name: "feature/ä#1", sha: SHA, protected: false },
        { name: "main", sha: SHA, protected: true },
      ]);
      const names = Array.from({ length: 215 }, (_, index) => `branch/${index}`);
      const branches = Object.fromEntries(names.map((each) => [each, {}]));
      await stage.host.addRepository({ owner: "other", name: "branchy", private: false, branches });
      const found = await repositories.branches(ada, { owner: "other", repo: "branchy" }, NEVER);
      expect(found.map((branch) => branch.name).toSorted()).toEqual(names.toSorted());
    });

    test("files() lists a folder", async () => {
      const listed = await repositories.files(ada, site, { path: "" }, NEVER);
      expect(listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
        { name: "README.md", path: "README.md", type: "file", size: 7, sha: SHA },
        { name: "binary.bin", path: "binary.bin", type: "file", size: 6, sha: SHA },
        { name: "empty.txt", path: "empty.txt", type: "file", size: 0, sha: SHA },
        { name: "link", path: "link", type: "symlink", size: 14, sha: SHA },
        { name: "package.json", path: "package.json", type: "file", size: 16, sha: SHA },
        { name: "src", path: "src", type: "dir", size: 0, sha: SHA },
        { name: "vendored", path: "vendored", type: "dir", size: 0, sha: SHA },
      ]);
      const deep = await repositories.files(ada, site, { path: "src/deep", branch: "main" }, NEVER);
      const entry = { name: "ünï cödé.txt", path: "src/deep/ünï cödé.txt", type: "file", size: 6, sha: SHA };
      expect(deep as readonly object[]).toEqual([entry]);
      const vendored = await repositories.files(ada, site, { path: "vendored" }, NEVER);
      const part = { name: "part", path: "vendored/part", type: "submodule", size: 0, sha: SUBMODULE };
      expect(vendored as readonly object[]).toEqual([part]);
    });

    test("files() and file() read the given branch", async () => {
      const branch = "feature/ä#1";
      expect((await repositories.files(ada, site, { path: "", branch }, NEVER)).map(({ path }) => path)).toEqual([
        "README.md",
      ]);
      const { bytes } = await repositories.file(ada, site, { path: "README.md", branch }, NEVER);
      expect(Buffer.from(bytes).toString()).toBe("# Feature\n");
      for (const missing of ["missing", "..", "main?x", "--upload-pack=x", "feature"]) {
        const at = { path: "README.md", branch: missing };
        expect(await failureOf(repositories.file(ada, site, at, NEVER))).toMatchObject(BRANCH_NOT_FOUND);
        const root = { path: "", branch: missing };
        expect(await failureOf(repositories.files(ada, site, root, NEVER))).toMatchObject(BRANCH_NOT_FOUND);
      }
    });

    test("files() lists a folder of more than a thousand entries whole", async () => {
      const names = Array.from({ length: 1_150 }, (_, index) => `file-${index}.txt`);
      const files = Object.fromEntries(names.map((each) => [`many/of them/${each}`, each]));
      await stage.host.addRepository({ owner: "other", name: "crowded", private: false, branches: { main: files } });
      const at = { path: "many/of them" };
      const listed = await repositories.files(ada, { owner: "other", repo: "crowded" }, at, NEVER);
      expect(listed.map((entry) => entry.name).toSorted()).toEqual(names.toSorted());
      const second = listed.find((entry) => entry.name === "file-1.txt")!;
      expect(second).toEqual({
        name: second.name,
        path: `many/of them/${second.name}`,
        type: "file",
        size: 10,
        sha: SHA,
      });
    });

    test("files() does not find a file or a missing folder, file() no folder, link or submodule", async () => {
      for (const path of ["README.md", "missing", "src/missing", ...HOSTILE_PATHS]) {
        expect(await failureOf(repositories.files(ada, site, { path }, NEVER))).toMatchObject(FILE_NOT_FOUND);
      }
      for (const path of ["", "src", "missing", "README.md/x", "link", "vendored/part", ...HOSTILE_PATHS]) {
        expect(await failureOf(repositories.file(ada, site, { path }, NEVER))).toMatchObject(FILE_NOT_FOUND);
      }
    });

    test.each(["README.md", "src/deep/ünï cödé.txt", "binary.bin", "empty.txt"] as const)(
      "file() returns the bytes of %s",
      async (path) => {
        const expected = new Uint8Array(Buffer.from(FILES[path]));
        const found = await repositories.file(ada, site, { path }, NEVER);
        expect({ ...found, bytes: [...found.bytes] }).toEqual({
          path,
          sha: SHA,
          size: expected.length,
          bytes: [...expected],
        });
      },
    );

    test("file() reads files to the limit and refuses larger ones", async () => {
      const branches = {
        main: {
          largest: "x".repeat(MAX_FILE_BYTES),
          larger: "x".repeat(MAX_FILE_BYTES + 1),
          huge: "x".repeat(3_000_000),
        },
      };
      await stage.host.addRepository({ owner: "other", name: "large", private: false, branches });
      const large = { owner: "other", repo: "large" };
      const found = await repositories.file(ada, large, { path: "largest" }, NEVER);
      expect([found.size, found.bytes.length]).toEqual([MAX_FILE_BYTES, MAX_FILE_BYTES]);
      for (const path of ["larger", "huge"]) {
        const failure = await failureOf(repositories.file(ada, large, { path }, NEVER));
        expect(failure).toMatchObject({ kind: "too_large", code: "file_too_large" });
      }
    });

    test("cloneToken() returns a new token each time, for less than an hour", async () => {
      const id = await stage.host.install("acme", ["shop"]);
      const [first, second] = [
        await repositories.cloneToken(id, { owner: "acme", repo: "shop" }, NEVER),
        await repositories.cloneToken(id, { owner: "acme", repo: "shop" }, NEVER),
      ];
      expect(first.token.reveal()).not.toBe(second.token.reveal());
      expect(first.expiresAt).toBeInstanceOf(Date);
      for (const named of [
        { owner: "acme", repo: "site" },
        { owner: "ada", repo: "site" },
        { owner: "other", repo: "shown" },
        { owner: "ada", repo: "shop" },
        { owner: "acme", repo: "missing" },
        { owner: "acme", repo: ".." },
      ]) {
        expect(await failureOf(repositories.cloneToken(id, named, NEVER))).toMatchObject(NOT_FOUND);
      }
    });

    test("a token that the host does not accept has expired, for every method", async () => {
      const revoked = await stage.host.issueToken("ada");
      await stage.host.revokeToken(revoked);
      for (const bad of [revoked, new Secret("never-issued-token"), new Secret("with\nnewline")]) {
        const access = { kind: "token", token: bad } as const;
        for (const call of [
          () => repositories.list(access, NEVER),
          () => repositories.find(access, site, NEVER),
          () => repositories.create(access, { name: "x", private: true }, NEVER),
          () => repositories.remove(access, site, NEVER),
          () => repositories.branches(access, site, NEVER),
          () => repositories.files(access, site, { path: "" }, NEVER),
          () => repositories.file(access, site, { path: "README.md" }, NEVER),
        ]) {
          expect(await failureOf(call(), bad)).toMatchObject(LOGIN_EXPIRED);
        }
      }
    });

    test("an installation that is suspended is refused, and one that was removed has expired", async () => {
      const id = await stage.host.install("acme");
      const access = { kind: "installation", installationId: id } as const;
      const shop = { owner: "acme", repo: "shop" };
      const calls = [
        () => repositories.list(access, NEVER),
        () => repositories.find(access, shop, NEVER),
        () => repositories.cloneToken(id, shop, NEVER),
      ];
      await stage.host.suspend(id, true);
      for (const call of calls) expect(await failureOf(call())).toMatchObject(REFUSED);
      await stage.host.suspend(id, false);
      await Promise.all(calls.map((call) => call()));
      await stage.host.uninstall(id);
      for (const call of calls) expect(await failureOf(call())).toMatchObject(LOGIN_EXPIRED);
    });

    test("every method fails with a host that is down or limits its rate, and ends when aborted", async () => {
      const id = await stage.host.install("acme");
      for (const call of [
        (signal: AbortSignal) => repositories.list(ada, signal),
        (signal: AbortSignal) => repositories.list({ kind: "installation", installationId: id }, signal),
        (signal: AbortSignal) => repositories.find(ada, site, signal),
        (signal: AbortSignal) => repositories.create(ada, { name: "x", private: true }, signal),
        (signal: AbortSignal) => repositories.remove(ada, { owner: "ada", repo: "nothing" }, signal),
        (signal: AbortSignal) => repositories.branches(ada, site, signal),
        (signal: AbortSignal) => repositories.files(ada, site, { path: "" }, signal),
        (signal: AbortSignal) => repositories.file(ada, site, { path: "README.md" }, signal),
        (signal: AbortSignal) => repositories.cloneToken(id, { owner: "acme", repo: "shop" }, signal),
      ]) {
        await expectFaults(stage.host, call, token);
      }
      expect(await repositories.find(ada, site, NEVER)).toMatchObject({ name: "site" });
    });
  });
}
