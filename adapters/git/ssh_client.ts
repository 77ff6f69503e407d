import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure, invalid } from "../../domain/failure.ts";
import { hostKeyFingerprint } from "../../domain/projects/deploy_key.ts";
import { readPrivateKey } from "../../domain/openssh/private_key.ts";
import { sshHost } from "../../domain/projects/ssh_host.ts";
import type { SshAccess, SshLogin } from "../../ports/projects/sources.ts";
import type { GitAddress } from "./git_address.ts";
import type { SshSettings } from "./git_environment.ts";
import { SshAgent } from "./ssh_agent.ts";

/** Folders whose names ssh_config and Unix sockets, which allow 107 bytes, take as they are. */
const PLAIN_FOLDER = /^[\w./-]{1,60}$/;

/** The login of a fetch, and where its temporary folder is created. */
export interface SshClientOptions {
  readonly access: SshAccess;
  readonly login: SshLogin;
  readonly temporaryFolder: string;
}

/**
 * The settings of ssh for one fetch with a deploy key: an agent with the key, the pinned host keys, and a configuration
 * that offers the key to one host only. They are in a temporary folder that only this user can enter; none of its files
 * contains a secret.
 */
export class SshClient implements AsyncDisposable {
  /** The server that the key is for. */
  readonly host: string;
  readonly #access: SshAccess;
  readonly #login: SshLogin;
  readonly #folder: string;
  readonly #agent: SshAgent;
  /** By host. */
  readonly #pinned: Map<string, string>;

  private constructor(host: string, folder: string, agent: SshAgent, { access, login }: SshClientOptions) {
    this.host = host;
    this.#access = access;
    this.#login = login;
    this.#folder = folder;
    this.#agent = agent;
    this.#pinned = new Map(login.hostKeys.map((hostKey) => [hostKey.host, hostKey.key]));
  }

  /** Creates the settings. Disposing ends the agent and removes the folder. */
  static async open(address: GitAddress, options: SshClientOptions): Promise<SshClient> {
    const { access, login, temporaryFolder } = options;
    const host = hostOf(address);
    const key = readPrivateKey(login.privateKey.reveal());
    if (!key) {
      const advice = `Make another one with POST ${access.deployKeyPath} and {"replace": true}`;
      throw new Failure("unavailable", "deploy_key_unreadable", `Cannot use the deploy key: it is damaged. ${advice}`);
    }
    const folder = await mkdtemp(join(PLAIN_FOLDER.test(temporaryFolder) ? temporaryFolder : "/tmp", "slipway-ssh-"));
    try {
      const socket = join(folder, "agent");
      await writeFile(join(folder, "config"), configuration(address, socket));
      const known = login.hostKeys.map((hostKey) => `${hostKey.host} ${hostKey.key}\n`);
      await writeFile(join(folder, "known_hosts"), known.join(""));
      return new SshClient(host, folder, await SshAgent.listen(socket, key), options);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** The public part of the key. */
  get publicKey(): string {
    return this.#login.publicKey;
  }

  /** The settings for connecting to an address. Only those for the key's own server lead to the agent. */
  settingsFor(address: GitAddress): SshSettings {
    const knownHostsFile = join(this.#folder, "known_hosts");
    if (address.protocol !== "ssh") return { knownHostsFile };
    const host = hostOf(address);
    return {
      knownHostsFile,
      hostKeyAlias: host,
      ...(host === this.host && { configFile: join(this.#folder, "config") }),
    };
  }

  /** Pins the keys of servers that ssh connected to for the first time. Rejects if another key was pinned meanwhile. */
  async pinNewHostKeys(): Promise<void> {
    for (const [host, key] of await hostKeysIn(join(this.#folder, "known_hosts"))) {
      if (this.#pinned.has(host)) continue;
      const pinned = await this.#login.pinHostKey(host, key);
      if (pinned && pinned.key !== key) throw this.#changed(host, pinned.fingerprint, hostKeyFingerprint(key));
      this.#pinned.set(host, key);
    }
  }

  /** The failure of a fetch from a server that presents another key than the pinned one. */
  hostKeyChanged(address: GitAddress, presented: string | undefined): Failure {
    const host = hostOf(address);
    return this.#changed(host, hostKeyFingerprint(this.#pinned.get(host) ?? ""), presented);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #changed(host: string, pinned = "another key", presented = "another one"): Failure {
    const path = `${this.#access.deployKeyPath}/host-keys/${encodeURIComponent(host).replaceAll("%3A", ":")}`;
    const message =
      `Cannot clone the repository: ${host} presents the host key ${presented}, but ${pinned} is pinned for this ` +
      `project. Make sure that the new key is the server's own, then forget the old one with DELETE ${path}`;
    return new Failure("remote_failed", "git_host_key_changed", message);
  }
}

/** Binds the key to the host, also for programs that git starts, such as Git LFS, whose URLs the repository chooses. */
function configuration({ host }: GitAddress, socket: string): string {
  const bare = host.replaceAll(/[[\]]/g, "");
  return `Host ${bare} ${bare.toLowerCase()}\n  IdentityAgent ${socket}\nHost *\n  IdentityAgent none\n`;
}

function hostOf({ url }: GitAddress): string {
  const host = sshHost(url);
  if (host !== undefined) return host;
  const reason = "the name of the SSH server may only contain letters, digits, dots and hyphens";
  throw invalid("git_address_refused", `Cannot clone the repository: ${reason}. Correct its address`);
}

/** Reads a known_hosts file into hosts and keys. */
async function hostKeysIn(file: string): Promise<[string, string][]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [host, type, key] = line.trim().split(" ");
    return host && type && key ? [[host, `${type} ${key}`] as [string, string]] : [];
  });
}
