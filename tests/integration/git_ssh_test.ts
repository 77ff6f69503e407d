import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitAddress } from "../../adapters/git/git_address.ts";
import type { GitOptions } from "../../adapters/git/git_checkout.ts";
import { gitEnvironment } from "../../adapters/git/git_environment.ts";
import { GitSources } from "../../adapters/git/git_sources.ts";
import { SshClient } from "../../adapters/git/ssh_client.ts";
import { Failure } from "../../domain/failure.ts";
import { readPrivateKey } from "../../domain/openssh/private_key.ts";
import { newDeployKey, type PinnedHostKey, pinnedHostKey } from "../../domain/projects/deploy_key.ts";
import { Secret } from "../../domain/secret.ts";
import type { FetchTarget, SshAccess, SshLogin } from "../../ports/projects/sources.ts";
import { eventually } from "../support/eventually.ts";
import { scriptedSshd } from "../support/faults/scripted_sshd.ts";
import { OpenSshServer } from "../support/peers/openssh_server.ts";
import { folderText, watchProcesses } from "../support/places_of_leaks.ts";
import { processesWith } from "../support/processes_with.ts";
import { run } from "../support/runner/command.ts";

const PATH = "/api/projects/prj_1/deploy-key";

/** Everything that would give a private key away. */
function formsOf(privateKey: Secret): string[] {
  const { seed } = readPrivateKey(privateKey.reveal())!;
  const lines = privateKey.reveal().split("\n");
  return [lines[2]!, lines[3]!, seed.toHex(), seed.toBase64().slice(0, 40), Buffer.from(seed).toString("latin1")];
}

describe("GitSources with a deploy key", () => {
  let server: OpenSshServer;
  let root: string;
  let folder: string;
  let lines: string[];
  let access: SshAccess & { readonly login: SshLogin };
  let fingerprint: string;
  let temporaryFolder: string;
  const pinned = new Map<string, PinnedHostKey>();

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "slipway-"));
    temporaryFolder = join(root, "tmp");
    await mkdir(temporaryFolder);
    server = await OpenSshServer.start();
    await (await server.repository("shop")).commit({ "index.html": "over ssh" });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  });
  beforeEach(async () => {
    [lines, folder] = [[], await mkdtemp(join(root, "release-"))];
    pinned.clear();
    const { deployKey, privateKey } = await newDeployKey({ id: "prj_1", slug: "shop" }, new Date());
    ({ fingerprint } = deployKey);
    const pinHostKey = async (host: string, key: string) => {
      if (!pinned.has(host)) pinned.set(host, pinnedHostKey(host, key, new Date())!);
      return pinned.get(host);
    };
    access = { deployKeyPath: PATH, login: { privateKey, publicKey: deployKey.publicKey, hostKeys: [], pinHostKey } };
    await server.authorize(deployKey.publicKey);
  });
  afterEach(async () => {
    expect(await readdir(temporaryFolder)).toEqual([]);
  });

  /** The folder of the fetch with a deploy key that is under way. */
  const clientFolder = async () => join(temporaryFolder, (await readdir(temporaryFolder))[0]!);
  /** The access of a later fetch, which knows what was pinned by former ones. */
  const later = (): SshAccess => ({ ...access, login: { ...access.login, hostKeys: [...pinned.values()] } });
  const fetch = (url: string, into: Partial<FetchTarget> = {}, options: Partial<GitOptions> = {}) =>
    new GitSources({ knownHostsFile: join(root, "known_hosts"), temporaryFolder, ...options }).fetch(
      { kind: "git", url, branch: null, commit: null },
      { folder, signal: new AbortController().signal, log: (line) => void lines.push(line), ssh: access, ...into },
    );
  const failureOf = async (...words: Parameters<typeof fetch>): Promise<Failure> => {
    const error: unknown = await fetch(...words).then(
      () => new Error("it succeeded"),
      (reason: unknown) => reason,
    );
    if (!(error instanceof Failure)) throw error;
    return error;
  };
  const content = (path: string) => readFile(join(folder, path), "utf8");
  const withSubmodule = async (name: string, url: string) => {
    const repository = await server.repository(name);
    const library = await server.repository(`${name}-library`);
    await library.commit({ "lib.js": "library" });
    await repository.commit({ a: "a" });
    await repository.git("submodule", "--quiet", "add", library.bare, "lib");
    await repository.git("config", "--file", ".gitmodules", "submodule.lib.url", url);
    await repository.commit({ b: "b" });
  };
  const isLoggedIn = () =>
    eventually(
      async () => server.log,
      (log) => log.includes(`Accepted publickey`) && log.includes(fingerprint),
    );

  test("the private key is on no disk and in no process while git uses it", async () => {
    using watched = watchProcesses(/\bbun\b|main\.ts/);
    const held = await server.hold();
    const fetching = fetch(server.url("shop"));
    try {
      await isLoggedIn();
      const own = await clientFolder();
      expect((await stat(own)).mode & 0o777).toBe(0o700);
      expect((await readdir(own)).toSorted()).toEqual(["agent", "config", "known_hosts"]);
      expect(processesWith(`${own}/config`).length).toBeGreaterThan(0);
      const environments = () => [...watched.environments].filter((text) => text.includes(own));
      await eventually(
        async () => environments(),
        (found) => found.length > 0,
      );
      const disk = await folderText(root);
      expect(disk).toContain("ssh-ed25519 ");
      const seen = [disk, ...watched.commands, ...watched.environments].join("\n");
      for (const form of [...formsOf(access.login.privateKey), "OPENSSH PRIVATE KEY"]) expect(seen).not.toContain(form);
    } finally {
      await held[Symbol.asyncDispose]();
      await fetching;
    }
    expect(await content("index.html")).toBe("over ssh");
    expect(processesWith(temporaryFolder)).toEqual([]);
    expect(lines.join("\n")).not.toContain("slipway-ssh-");
  });

  test("an aborted fetch ends ssh and the agent", async () => {
    const abort = new AbortController();
    const held = await server.hold();
    try {
      const fetching = fetch(server.url("shop"), { signal: abort.signal });
      await isLoggedIn();
      abort.abort(new Error("no longer needed"));
      await expect(fetching).rejects.toThrow("no longer needed");
      expect(processesWith(temporaryFolder)).toEqual([]);
    } finally {
      await held[Symbol.asyncDispose]();
    }
  });

  test("private submodules of the same server are cloned with the key, by absolute and relative URLs", async () => {
    for (const [name, url] of [
      ["absolute", server.url("absolute-library")],
      ["relative", "../relative-library.git"],
    ] as const) {
      folder = await mkdtemp(join(root, "release-"));
      await withSubmodule(name, url);
      await fetch(server.url(name));
      expect(await content("lib/lib.js")).toBe("library");
    }
    expect([...pinned.keys()]).toEqual([server.host]);
  });

  test("the key is not offered to another server, such as that of a submodule", async () => {
    await using other = await scriptedSshd({ login: (attempt) => attempt.reject(["publickey"]) });
    await withSubmodule("elsewhere", `ssh://git@127.0.0.1:${other.target.port}/library.git`);
    const failure = await failureOf(server.url("elsewhere"));
    expect(failure.code).toBe("git_auth_failed");
    expect(failure.message).toContain(`only used for ${server.host}`);
    expect(new Set(other.attempts)).toEqual(new Set(["none"]));
    expect([...pinned.keys()].toSorted()).toEqual([server.host, `127.0.0.1:${other.target.port}`].toSorted());
  });

  test("the key is not offered to another host by programs that git starts, such as Git LFS", async () => {
    const address = gitAddress(server.url("shop"), { allowHttp: false });
    await using client = await SshClient.open(address, { access, login: access.login, temporaryFolder });
    const settings = { address, allowHttp: false, credential: undefined, pinnedTo: undefined, lfs: false };
    const { GIT_SSH_COMMAND: command } = gitEnvironment({ ...settings, ssh: client.settingsFor(address) });
    const user = new URL(address.url).username;
    const connect = (host: string) =>
      run(["sh", "-c", `${command} -p ${server.port} ${user}@${host} git-upload-pack x`]);
    const elsewhere = await connect("localhost");
    expect(elsewhere.lastLine).toContain("Permission denied");
    expect(server.log).not.toContain(fingerprint);
    await connect("127.0.0.1");
    await isLoggedIn();
  });

  test("a host key of another type than the pinned one is refused too, and accepted once it is forgotten", async () => {
    await fetch(server.url("shop"));
    const former = server.fingerprint;
    await server.restart("ecdsa");
    try {
      folder = await mkdtemp(join(root, "release-"));
      const accepted = server.log.split("Accepted publickey").length;
      const failure = await failureOf(server.url("shop"), { ssh: later() });
      expect([failure.code, failure.message]).toEqual([
        "git_host_key_changed",
        `Cannot clone the repository: ${server.host} presents the host key ${server.fingerprint}, but ${former} is ` +
          "pinned for this project. Make sure that the new key is the server's own, then forget the old one with " +
          `DELETE ${PATH}/host-keys/${server.host}`,
      ]);
      expect(server.log.split("Accepted publickey")).toHaveLength(accepted);
      pinned.clear();
      folder = await mkdtemp(join(root, "release-"));
      await fetch(server.url("shop"), { ssh: later() });
      expect([...pinned.values()]).toMatchObject([{ host: server.host, fingerprint: server.fingerprint }]);
    } finally {
      await server.restart();
    }
  });

  test("a refused server is not sent anything, and its warnings about files are not logged", async () => {
    await fetch(server.url("shop"));
    await server.restart();
    folder = await mkdtemp(join(root, "release-"));
    const failure = await failureOf(server.url("shop"), { ssh: later() });
    expect(failure.message).toContain(server.fingerprint);
    expect(lines.join("\n")).toContain("REMOTE HOST IDENTIFICATION HAS CHANGED");
    expect(lines.join("\n")).not.toMatch(/slipway-ssh-|ssh-keygen/);
    expect(await readdir(folder)).toEqual([".git"]);
  });

  test("where addresses are checked, the host key is pinned for the name of the URL", async () => {
    const named = server.url("shop", "Git.Invalid");
    const options = { resolveAddress: async () => "127.0.0.1" };
    await fetch(named, {}, options);
    expect([...pinned.keys()]).toEqual([`git.invalid:${server.port}`]);
    await server.restart();
    folder = await mkdtemp(join(root, "release-"));
    expect((await failureOf(named, { ssh: later() }, options)).code).toBe("git_host_key_changed");
  });

  test("a repository that does not exist is reported as such", async () => {
    const failure = await failureOf(server.url("missing"));
    expect(failure.code).toBe("git_not_found");
    expect(failure.message).toContain("no repository at this address that the deploy key may read");
  });

  test("a damaged key is reported, and the key of another URL is not opened", async () => {
    const login = { ...access.login, privateKey: new Secret("canary") };
    const failure = await failureOf(server.url("shop"), { ssh: { ...access, login } });
    expect(failure.code).toBe("deploy_key_unreadable");
    expect(failure.message).not.toContain("canary");
    const unreachable = await failureOf("https://host.invalid/x.git", { ssh: { ...access, login } });
    expect(unreachable.code).toBe("git_unreachable");
  });

  test("the agent works with OpenSSH's own client of agents", async () => {
    const address = gitAddress(server.url("shop"), { allowHttp: false });
    await using client = await SshClient.open(address, { access, login: access.login, temporaryFolder });
    const own = await clientFolder();
    const listed = await run(["ssh-add", "-l"], { environment: { SSH_AUTH_SOCK: join(own, "agent") } });
    expect(listed.output).toContain(fingerprint);
    const removed = await run(["ssh-add", "-D"], { environment: { SSH_AUTH_SOCK: join(own, "agent") } });
    expect(removed.ok).toBe(false);
    expect(client.host).toBe(server.host);
  });
});
