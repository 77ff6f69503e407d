import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { lstat, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitOptions } from "../../adapters/git/git_checkout.ts";
import { GitSources } from "../../adapters/git/git_sources.ts";
import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { FetchableSource, FetchTarget } from "../../ports/projects/sources.ts";
import { run } from "../support/runner/command.ts";
import { eventually } from "../support/eventually.ts";
import { GitServer } from "../support/peers/git_server.ts";
import { scriptedSshd } from "../support/faults/scripted_sshd.ts";

type GitSource = Extract<FetchableSource, { kind: "git" }>;
const TOKEN = "canary-4242+/=tok en";

/** All command lines, which other users can read. */
const places = async () => {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const seen = processes.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
  return (await Promise.all(seen)).join("\n");
};

const away = (to: string) => (request: Request) => {
  const { pathname, search } = new URL(request.url);
  return pathname.startsWith("/away") ? Response.redirect(`${to}${pathname.slice(5)}${search}`, 302) : undefined;
};

const endless = () =>
  new Response(
    new ReadableStream({
      async pull(controller) {
        await Bun.sleep(5);
        controller.enqueue(new Uint8Array(1_000));
      },
    }),
    { headers: { "content-type": "application/x-git-upload-pack-result" } },
  );

const refusingLog = async (_: string, stream: "stdout" | "stderr") => {
  if (stream === "stderr") throw new Failure("unavailable", "database_unavailable", "Cannot log");
};

/** Accepts every login and runs `git upload-pack` on one repository, whatever the client requests. */
const gitSshd = (bare: string) =>
  scriptedSshd({
    session: (connection) =>
      connection.on("session", (accept) =>
        accept().on("exec", (acceptExec, _, { command }) => {
          const channel = acceptExec();
          expect(command).toContain("git-upload-pack");
          const child = Bun.spawn(["git", "upload-pack", bare], { stdio: ["pipe", "pipe", "ignore"] });
          channel
            .on("data", (bytes: Uint8Array) => void child.stdin.write(bytes))
            .on("end", () => void child.stdin.end());
          void (async () => {
            for await (const bytes of child.stdout) channel.write(bytes);
            channel.exit(await child.exited);
            channel.end();
          })();
        }),
      ),
  });

describe("GitSources", () => {
  let root: string;
  let server: GitServer;
  let other: GitServer;
  let lines: string[];
  let folder: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "slipway-"));
    [server, other] = [await GitServer.start(), await GitServer.start()];
    await (await server.repository("hostile")).commit({ a: "a" });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  });
  beforeEach(async () => {
    lines = [];
    folder = await mkdtemp(join(root, "release-"));
  });
  afterEach(() => {
    server.modern = true;
    server.intercept = undefined;
    other.intercept = undefined;
    server.requests.length = 0;
    other.requests.length = 0;
  });

  const sources = (options: Partial<GitOptions> = {}) =>
    new GitSources({ knownHostsFile: join(root, "data", "known hosts 100%"), allowHttp: true, ...options });
  const fetch = (source: Partial<GitSource>, into: Partial<FetchTarget> = {}, options: Partial<GitOptions> = {}) =>
    sources(options).fetch(
      { kind: "git", url: "", branch: null, commit: null, ...source },
      { folder, signal: new AbortController().signal, log: (line) => void lines.push(line), ...into },
    );
  const failureOf = async (...words: Parameters<typeof fetch>): Promise<Failure> => {
    const error: unknown = await fetch(...words).then(
      () => new Error("it succeeded"),
      (reason: unknown) => reason,
    );
    if (!(error instanceof Failure)) throw error;
    return error;
  };
  const withSubmodule = async (name: string, url: string, { from = "library" } = {}) => {
    const library = await server.repository(`${from}`);
    await library.commit({ "lib.js": "old" });
    const repository = await server.repository(name);
    await repository.commit({ a: "a" });
    await repository.git("submodule", "--quiet", "add", library.bare, "vendor/lib");
    await repository.git("config", "--file", ".gitmodules", "submodule.vendor/lib.url", url);
    await repository.commit({ b: "b" });
    return { library, repository };
  };
  /** The number of processes whose working directory is in the folder. */
  const working = async () => {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
    return folders.filter((at) => at.startsWith(folder)).length;
  };
  const content = (path: string) => readFile(join(folder, path), "utf8");

  test("fetch() leaves no files of git behind", async () => {
    const repository = await server.repository("plain");
    await repository.commit({ a: "a", "deep/b": "b", ".gitignore": "x", ".github/c": "c" });
    await fetch({ url: server.url("plain") });
    expect((await readdir(folder)).toSorted()).toEqual([".github", ".gitignore", "a", "deep"]);
  });

  test.each([
    "--upload-pack=touch ${IFS}pwned",
    "-b",
    "a..b",
    "a b",
    "a\nb",
    "refs/heads/main:refs/heads/x",
    "+main",
    "main^{tree}",
    "$(touch pwned)",
    "",
  ])("fetch() refuses or does not find the branch %j", async (branch) => {
    const failure = await failureOf({ url: server.url("hostile"), branch });
    expect(["git_branch_refused", "git_branch_not_found"]).toContain(failure.code);
    expect(failure.kind).toBe("invalid");
  });

  test.each(["--exec=x", "HEAD", "main", "abc", "0123456z", `${"0".repeat(40)}^`, ":/a"])(
    "fetch() does not accept %j as a commit",
    async (commit) => {
      expect((await failureOf({ url: server.url("hostile"), commit })).code).toBe("git_commit_refused");
    },
  );

  test.each([
    "ext::sh -c touch% pwned",
    "file:///etc",
    "/etc",
    "../x",
    "-oProxyCommand=x",
    "--upload-pack=x",
    "https://user:secret-word@host/x",
    "git://host/x",
    "ftp://host/x",
    "ssh://-oProxyCommand=x/y",
    "https:host/x",
    "fd::17",
  ])("fetch() refuses the address %j", async (url) => {
    const failure = await failureOf({ url });
    expect([failure.kind, failure.code]).toEqual(["invalid", "git_address_refused"]);
    expect(failure.message).not.toContain("secret-word");
  });

  test("fetch() refuses an unencrypted address unless allowed", async () => {
    const failure = await failureOf({ url: server.url("plain") }, {}, { allowHttp: false });
    expect(failure.code).toBe("git_address_refused");
    expect(server.requests).toEqual([]);
  });

  test("fetch() of a branch follows a forced push, and its former commit is still found", async () => {
    const repository = await server.repository("forced");
    await repository.commit({ a: "root" });
    const former = await repository.commit({ a: "former" });
    await repository.git("reset", "--hard", "--quiet", "HEAD~1");
    const now = await repository.commit({ a: "now" });
    expect((await fetch({ url: server.url("forced"), branch: "main" })).commitSha).toBe(now);
    expect(await content("a")).toBe("now");
    folder = await mkdtemp(join(root, "release-"));
    expect((await fetch({ url: server.url("forced"), branch: "main", commit: former })).commitSha).toBe(former);
    expect(await content("a")).toBe("former");
  });

  test("fetch() finds an older commit at a host that serves branches only", async () => {
    server.modern = false;
    const repository = await server.repository("old");
    const first = await repository.commit({ a: "first" });
    for (let count = 0; count < 5; count++) await repository.commit({ a: `${count}` });
    expect((await fetch({ url: server.url("old"), commit: first })).commitSha).toBe(first);
    expect(await content("a")).toBe("first");
    folder = await mkdtemp(join(root, "release-"));
    const failure = await failureOf({ url: server.url("old"), commit: "1".repeat(40) });
    expect(failure.code).toBe("git_commit_not_found");
  });

  test("fetch() requests one commit only, without history", async () => {
    const repository = await server.repository("long");
    for (let count = 0; count < 3; count++) await repository.commit({ [`noise${count}`]: crypto.randomUUID() });
    let shallow = false;
    server.intercept = (request) => {
      if (request.method !== "POST") return undefined;
      const watched = request.clone().text();
      return watched.then((body) => {
        shallow ||= body.includes("deepen 1");
        return undefined;
      });
    };
    await fetch({ url: server.url("long") });
    expect(shallow).toBe(true);
  });

  test("fetch() reports an empty repository", async () => {
    await server.repository("empty");
    const failure = await failureOf({ url: server.url("empty") });
    expect(failure.code).toBe("git_branch_not_found");
    expect(failure.message).toContain("no commits yet");
  });

  test("fetch() returns the first line of odd messages", async () => {
    const repository = await server.repository("messages");
    await repository.commit({ a: "1" }, { message: `ünïcödé 🚀 ${"x".repeat(600)}\nsecond line` });
    const { commitMessage } = await fetch({ url: server.url("messages") });
    expect(commitMessage).toStartWith("ünïcödé 🚀 xxx");
    expect(commitMessage!.length).toBeLessThanOrEqual(500);
    expect(commitMessage).not.toContain("second");
  });

  describe("links", () => {
    test.each([
      ["/etc/passwd", "Dockerfile"],
      ["../outside", "compose.yaml"],
      ["../../outside", "deep/.env"],
      ["d/../../outside", "a"],
      ["loop", "loop"],
    ])("fetch() refuses a link to %s", async (target, path) => {
      const name = `link-${Buffer.from(target).toString("hex")}`;
      await (await server.repository(name)).commit({ [path]: { link: target }, "d/f": "f" });
      const failure = await failureOf({ url: server.url(name) });
      expect([failure.kind, failure.code]).toEqual(["invalid", "source_link_refused"]);
      expect(failure.message).toContain(JSON.stringify(path));
    });

    test("fetch() keeps links that stay inside", async () => {
      const repository = await server.repository("links");
      await repository.commit({ "d/f": "f", "d/up": { link: "../d/f" }, dangling: { link: "not/there" } });
      await fetch({ url: server.url("links") });
      expect(await content("d/up")).toBe("f");
      expect(await readlink(join(folder, "dangling"))).toBe("not/there");
    });
  });

  describe("submodules", () => {
    test("fetch() fetches submodules by their commit, relative addresses included", async () => {
      const { library } = await withSubmodule("team/app", "../lib-a.git", { from: "team/lib-a" });
      await library.commit({ "lib.js": "newer" });
      await library.commit({ "lib.js": "newest" });
      for (const modern of [true, false]) {
        server.modern = modern;
        folder = await mkdtemp(join(root, "release-"));
        await fetch({ url: server.url("team/app") });
        expect(await content("vendor/lib/lib.js")).toBe("old");
        expect(await readdir(join(folder, "vendor/lib"))).toEqual(["lib.js"]);
      }
    });

    test("fetch() gives a submodule no credential of another one whose path would match it as a pattern", async () => {
      const hidden = await server.repository("literal/hidden", { password: TOKEN });
      await hidden.commit({ secret: "canary" });
      const shop = await server.repository("literal/shop", { password: TOKEN });
      await shop.commit({ a: "a" });
      const own = server.url("literal/shop");
      await shop.git("submodule", "--quiet", "add", shop.bare, "libs/own");
      await shop.git("submodule", "--quiet", "add", hidden.bare, "libs/hidden");
      await shop.git("config", "--file", ".gitmodules", "submodule.libs/own.url", own);
      await shop.git("config", "--file", ".gitmodules", "submodule.libs/hidden.url", server.url("literal/hidden"));
      await shop.git("add", ".gitmodules");
      await shop.git("mv", "libs/own", "./:(glob)**");
      await shop.commit({ b: "b" });
      const credentialFor = async (url: string) => (url === own ? new Secret(TOKEN) : undefined);
      await expect(fetch({ url: own }, { credentialFor })).rejects.toBeInstanceOf(Failure);
      expect(await content("libs/hidden/secret").catch(() => "none")).toBe("none");
    });

    test("fetch() fetches submodules of submodules, private ones with the same credential", async () => {
      const inner = await server.repository("private/inner", { password: TOKEN });
      await inner.commit({ inner: "inner" });
      const middle = await server.repository("private/middle", { password: TOKEN });
      await middle.git("submodule", "--quiet", "add", inner.bare, "inner");
      await middle.git("config", "--file", ".gitmodules", "submodule.inner.url", "../inner.git");
      await middle.commit({ middle: "middle" });
      const outer = await server.repository("private/outer", { password: TOKEN });
      await outer.git("submodule", "--quiet", "add", middle.bare, "middle");
      await outer.git("config", "--file", ".gitmodules", "submodule.middle.url", server.url("private/middle"));
      await outer.commit({ outer: "outer" });
      await fetch({ url: server.url("private/outer") }, { credentialFor: async () => new Secret(TOKEN) });
      expect(await content("middle/inner/inner")).toBe("inner");
      expect(await readdir(join(folder, "middle"))).not.toContain(".git");
    });

    test("fetch() sends the credential to no other host", async () => {
      const stranger = await other.repository("stranger", { password: TOKEN });
      await stranger.commit({ s: "s" });
      await withSubmodule("leaky", other.url("stranger"), { from: "leaky-lib" });
      const failure = await failureOf({ url: server.url("leaky") }, { credentialFor: async () => new Secret(TOKEN) });
      expect(failure.code).toBe("git_auth_failed");
      expect(failure.message).toContain("vendor/lib");
      expect(other.requests.length).toBeGreaterThan(0);
      expect(other.requests.every(({ authorization }) => authorization === null)).toBe(true);
    });

    test.each(["file:///etc", "/etc", "ext::sh -c id", "git://localhost/x", "--upload-pack=x", "../../../../../etc"])(
      "fetch() refuses a submodule at %j",
      async (url) => {
        const name = `sub-${Buffer.from(url).toString("hex")}`;
        await withSubmodule(name, url, { from: `${name}-lib` });
        const failure = await failureOf({ url: server.url(name) });
        expect(["git_address_refused", "git_failed", "git_not_found"]).toContain(failure.code);
        expect(await readdir(join(folder, "vendor/lib"))).toEqual([]);
      },
    );
  });

  describe("credentials", () => {
    test("fetch() puts the credential into no argument, no file and no log while it runs", async () => {
      const repository = await server.repository("slow", { password: TOKEN });
      await repository.commit({ a: "a" });
      const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      server.intercept = async (request) => {
        if (request.headers.has("authorization")) {
          reached.resolve();
          await release.promise;
        }
        return undefined;
      };
      const fetching = fetch({ url: server.url("slow") }, { credentialFor: async () => new Secret(TOKEN) });
      await reached.promise;
      const shown = await places();
      expect(shown).toContain("remote-http");
      const found = await run(["grep", "-rlF", "canary-4242", folder]);
      release.resolve();
      await fetching;
      expect(shown).not.toContain("canary-4242");
      expect(found.output).toBe("");
      expect((await run(["grep", "-rlF", "canary-4242", root])).output).toBe("");
      expect(lines.join("\n")).not.toContain("canary-4242");
      expect(server.requests.some(({ line }) => line.includes("canary"))).toBe(false);
    });

    test("fetch() splits user and password at the first colon", async () => {
      await (await server.repository("named", { password: "pass:word-1" })).commit({ a: "a" });
      await fetch({ url: server.url("named") }, { credentialFor: async () => new Secret("ada:pass:word-1") });
      const used = server.requests.find(({ authorization }) => authorization !== null)!.authorization!;
      expect(Buffer.from(used.slice(6), "base64").toString()).toBe("ada:pass:word-1");
    });

    test("fetch() masks a credential that the host repeats", async () => {
      server.intercept = () => new Response(`bad ${TOKEN}`, { status: 403, headers: { "content-type": "text/plain" } });
      const failure = await failureOf(
        { url: server.url("any") },
        { credentialFor: async () => new Secret(`ada:${TOKEN}`) },
      );
      expect(failure.code).toBe("git_auth_failed");
      expect(`${lines.join("\n")}${failure.message}${String(failure.cause)}`).not.toContain("canary-4242");
    });

    test("fetch() follows a redirect, but sends the credential to no other host", async () => {
      await (await server.repository("moved", { password: TOKEN })).commit({ a: "a" });
      await (await other.repository("moved", { password: TOKEN })).commit({ a: "a" });
      server.intercept = away(`http://127.0.0.1:${server.port}`);
      const url = `http://127.0.0.1:${server.port}/away/moved.git`;
      expect((await fetch({ url }, { credentialFor: async () => new Secret(TOKEN) })).commitMessage).toBe("change");
      folder = await mkdtemp(join(root, "release-"));
      server.intercept = away(`http://127.0.0.1:${other.port}`);
      expect((await failureOf({ url }, { credentialFor: async () => new Secret(TOKEN) })).code).toBe("git_auth_failed");
      expect(other.requests.every(({ authorization }) => authorization === null)).toBe(true);
    });
  });

  describe("pinned addresses", () => {
    test("fetch() connects only to the address it was given for a host", async () => {
      await (await server.repository("pinned")).commit({ a: "a" });
      const url = `http://git.invalid:${server.port}/pinned.git`;
      const lookups: string[] = [];
      const resolveAddress = async (host: string) => {
        lookups.push(host);
        return "127.0.0.1";
      };
      await fetch({ url }, {}, { resolveAddress });
      expect(await content("a")).toBe("a");
      expect(new Set(lookups)).toEqual(new Set(["git.invalid"]));
    });

    test("fetch() fails with the error of the host rule, and follows no redirect to another host", async () => {
      const refused = new Failure(
        "remote_failed",
        "unreachable",
        "Cannot connect: only public addresses can be used here",
      );
      const url = server.url("pinned");
      const failure = await failureOf({ url }, {}, { resolveAddress: () => Promise.reject(refused) });
      expect(failure).toBe(refused);
      expect(server.requests).toEqual([]);
      server.intercept = () => Response.redirect(other.url("moved"), 302);
      folder = await mkdtemp(join(root, "release-"));
      await failureOf({ url }, {}, { resolveAddress: async () => "127.0.0.1" });
      expect(other.requests).toEqual([]);
    });
  });

  describe("ends", () => {
    test.each(["silent", "endless"])(
      "fetch() from a host that is %s ends when aborted, with all its programs",
      async (kind) => {
        await (await server.repository(`stuck-${kind}`)).commit({ a: "a" });
        const reached = Promise.withResolvers<void>();
        server.intercept = (request) => {
          if (request.method !== "POST") return undefined;
          reached.resolve();
          return kind === "silent" ? new Promise(() => {}) : endless();
        };
        const abort = new AbortController();
        const fetching = fetch({ url: server.url(`stuck-${kind}`) }, { signal: abort.signal });
        const outcome = fetching.then(
          () => "it succeeded",
          (error: unknown) => error,
        );
        await reached.promise;
        expect(await eventually(working, (count) => count > 0)).toBeGreaterThan(0);
        abort.abort(new Error("cancelled"));
        expect(await outcome).toEqual(new Error("cancelled"));
        expect(await working()).toBe(0);
      },
    );

    test("fetch() ends git when a line cannot be logged", async () => {
      server.intercept = () => new Response("go away", { status: 403, headers: { "content-type": "text/plain" } });
      expect((await failureOf({ url: server.url("unlogged") }, { log: refusingLog })).code).toBe(
        "database_unavailable",
      );
      expect(await working()).toBe(0);
    });

    test.each([
      [503, "git_unreachable"],
      [403, "git_auth_failed"],
      [404, "git_not_found"],
    ])("fetch() explains status %i", async (status, code) => {
      server.intercept = () => new Response("no", { status });
      expect((await failureOf({ url: server.url("any") })).code).toBe(code);
    });

    test("fetch() reports a host that cannot be reached or answers nonsense", async () => {
      for (const url of ["http://127.0.0.1:1/x.git", "https://host.invalid/x.git", "ssh://git@127.0.0.1:1/x.git"]) {
        folder = await mkdtemp(join(root, "release-"));
        const failure = await failureOf({ url });
        expect([failure.kind, failure.code]).toEqual(["remote_failed", "git_unreachable"]);
      }
      server.intercept = () => new Response("<html>hello</html>", { headers: { "content-type": "text/html" } });
      folder = await mkdtemp(join(root, "release-"));
      const failure = await failureOf({ url: server.url("any") });
      expect(["git_branch_not_found", "git_not_found", "git_failed"]).toContain(failure.code);
      expect(failure.message).not.toContain(root);
    });
  });

  describe("over SSH", () => {
    test("fetch() records the key of a host and refuses another one later", async () => {
      const repository = await server.repository("shelled");
      const sha = await repository.commit({ a: "over ssh" });
      const knownHostsFile = join(root, "data", "known \"hosts' 100%");
      await using first = await gitSshd(repository.bare);
      await using second = await gitSshd(repository.bare);
      const url = ({ target }: typeof first) => `ssh://git@127.0.0.1:${target.port}/some/where.git`;
      expect((await fetch({ url: url(first) }, {}, { knownHostsFile })).commitSha).toBe(sha);
      expect(await content("a")).toBe("over ssh");
      const known = await readFile(knownHostsFile, "utf8");
      expect(known).toStartWith(`[127.0.0.1]:${first.target.port} `);
      folder = await mkdtemp(join(root, "release-"));
      await writeFile(knownHostsFile, known.replace(`:${first.target.port} `, `:${second.target.port} `));
      const failure = await failureOf({ url: url(second) }, {}, { knownHostsFile });
      expect(failure.code).toBe("git_host_key_changed");
      folder = await mkdtemp(join(root, "release-"));
      const named = `ssh://git@git.invalid:${first.target.port}/x.git`;
      expect(
        (await fetch({ url: named }, {}, { knownHostsFile, resolveAddress: async () => "127.0.0.1" })).commitSha,
      ).toBe(sha);
    });

    test("fetch() reports that the host requires a login, and offers no key of the server's own", async () => {
      await using sshd = await scriptedSshd({ login: (attempt) => attempt.reject(["publickey"]) });
      const failure = await failureOf({ url: `ssh://git@127.0.0.1:${sshd.target.port}/x.git` });
      expect(failure.code).toBe("git_auth_failed");
      expect(new Set(sshd.attempts)).toEqual(new Set(["none"]));
    });
  });

  test("fetch() fetches LFS files if LFS is installed, and logs a warning if not", async () => {
    const large = "the content of a large file";
    const oid = createHash("sha256").update(large).digest("hex");
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${large.length}\n`;
    const repository = await server.repository("large", { password: TOKEN });
    await repository.commit({ ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.bin": pointer });
    const batches: (string | null)[] = [];
    server.intercept = (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === `/object/${oid}`) return new Response(large);
      if (!pathname.endsWith("/info/lfs/objects/batch")) return undefined;
      const authorization = request.headers.get("authorization");
      batches.push(authorization);
      if (authorization === null) {
        return new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="lfs"' } });
      }
      const actions = { download: { href: `http://127.0.0.1:${server.port}/object/${oid}` } };
      return Response.json(
        { transfer: "basic", objects: [{ oid, size: large.length, authenticated: true, actions }] },
        { headers: { "content-type": "application/vnd.git-lfs+json" } },
      );
    };
    await fetch({ url: server.url("large") }, { credentialFor: async () => new Secret(TOKEN) });
    const installed = (await run(["git", "lfs", "version"])).ok;
    expect(await content("a.bin")).toBe(installed ? large : pointer);
    expect(lines.some((line) => line.includes("LFS"))).toBe(!installed);
    expect((await lstat(join(folder, "a.bin"))).isFile()).toBe(true);
  });
});
