import { secretMask } from "../../domain/deployments/secret_mask.ts";
import type { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { FetchTarget } from "../../ports/projects/sources.ts";
import type { GitAddress } from "./git_address.ts";
import { gitEnvironment } from "./git_environment.ts";
import { gitFailure } from "./git_failure.ts";
import { type GitOutcome, runGit } from "./git_program.ts";
import { loginAdvice } from "./login_advice.ts";
import type { SshClient } from "./ssh_client.ts";

/** Options of git access. */
export interface GitOptions {
  /** The known_hosts file for fetches without a deploy key. Its folder is created when needed. */
  readonly knownHostsFile: string;
  /** Where to put the agent's socket of a login with a deploy key, for the time of a fetch. Defaults to the system's. */
  readonly temporaryFolder?: string;
  /** Whether unencrypted http:// URLs are accepted. */
  readonly allowHttp?: boolean;
  /**
   * Resolves a host to the IP address to connect to, or throws where that is not allowed. Disables redirects and LFS,
   * which could lead to other hosts.
   */
  readonly resolveAddress?: (host: string) => Promise<string>;
}

/** A git command within a checkout. */
export interface GitCommand {
  readonly arguments: readonly string[];
  /** The repository it may connect to. Defaults to the checkout's own. */
  readonly address?: GitAddress;
  /** Working directory, relative to the checkout. */
  readonly folder?: string;
  /** Completes the error message "Cannot …". */
  readonly action?: string;
  readonly branch?: string | null;
}

/** What a checkout uses beyond the options of all. */
export interface CheckoutTools {
  /** Whether Git LFS is installed. */
  readonly lfs: boolean;
  /** The settings of a login over SSH. */
  readonly ssh?: SshClient | undefined;
}

/** Lines of ssh about the files of a fetch, which are gone afterwards. */
const ABOUT_FILES = /^(Add correct host key in|Offending |  remove with:|  ssh-keygen -f|Warning: Permanently added)/;
const PRESENTED_KEY = /^(SHA256:[A-Za-z0-9+/]{43})\.?$/;

/** Matches lines about refs and progress of the remote, which are not logged. */
const NOISE = /^(From |Cloning into| \* |hint:|remote: (Enumerating|Counting|Compressing|Total) )/;
const WORTH_SHOWING = new Set([25, 50, 75]);

/** A folder into which one repository is cloned. */
export class GitCheckout {
  readonly address: GitAddress;
  readonly #options: GitOptions;
  readonly #into: FetchTarget;
  readonly #tools: CheckoutTools;
  /** By the URL of the repository that each is for. */
  readonly #credentials = new Map<string, Secret | undefined>();
  #mask: (text: string) => string;

  constructor(address: GitAddress, into: FetchTarget, { lfs, ssh, ...options }: GitOptions & CheckoutTools) {
    this.address = address;
    this.#options = options;
    this.#into = into;
    this.#tools = { lfs, ssh };
    this.#mask = this.#maskOf();
  }

  get allowHttp(): boolean {
    return this.#options.allowHttp ?? false;
  }

  get folder(): string {
    return this.#into.folder;
  }

  get signal(): AbortSignal {
    return this.#into.signal;
  }

  /** Logs a line of Slipway's own. */
  async say(line: string): Promise<void> {
    await this.#into.log(this.#mask(line), "stdout");
  }

  /** Runs git and returns its output. Throws a failure that explains its errors. */
  async git(command: GitCommand): Promise<string> {
    const outcome = await this.try(command);
    if (outcome.code !== 0) throw this.#failure(outcome, command);
    return outcome.output;
  }

  /** Runs git and returns the outcome, even if it fails. */
  async try({ arguments: words, address = this.address, folder = "" }: GitCommand): Promise<GitOutcome> {
    const { signal } = this.#into;
    const credential = await this.#credentialFor(address);
    const { lfs, ssh } = this.#tools;
    const environment = gitEnvironment({
      address,
      allowHttp: this.allowHttp,
      ssh: ssh?.settingsFor(address) ?? { knownHostsFile: this.#options.knownHostsFile },
      credential: credential && { origin: address.origin, secret: credential },
      pinnedTo: await this.#options.resolveAddress?.(address.host),
      lfs,
    });
    const isNoise = (line: string) => ssh !== undefined && ABOUT_FILES.test(line);
    const onLine = (line: string) =>
      isWorthShowing(line) && !isNoise(line) ? this.#into.log(this.#mask(line.trimEnd()), "stderr") : undefined;
    const inFolder = `${this.folder}/${folder}`;
    const outcome = await runGit({ arguments: words, folder: inFolder, environment, signal, onLine });
    await ssh?.pinNewHostKeys();
    return outcome;
  }

  /** Returns the credential for a repository on the checkout's own host, which is the only one that may get any. */
  async #credentialFor({ url, origin }: GitAddress): Promise<Secret | undefined> {
    if (origin === "" || origin !== this.address.origin) return undefined;
    if (!this.#credentials.has(url)) {
      this.#credentials.set(url, await this.#into.credentialFor?.(url));
      this.#mask = this.#maskOf();
    }
    return this.#credentials.get(url);
  }

  /** Hides all credentials in a text, and shows paths from the checkout on. */
  #maskOf(): (text: string) => string {
    const mask = secretMask([...this.#credentials.values()].flatMap(partsOf));
    const { folder } = this;
    return (text) => mask(text.replaceAll(`${folder}/`, "").replaceAll(folder, "."));
  }

  #failure({ errors }: GitOutcome, command: GitCommand): Failure {
    const { action = "clone the repository", branch = null, address = this.address } = command;
    const { ssh } = this.#tools;
    const failure = gitFailure(errors, {
      action,
      branch,
      loginAdvice: loginAdvice(address, this.#into, ssh),
      withDeployKey: ssh?.settingsFor(address).configFile !== undefined,
      mask: this.#mask,
    });
    if (failure.code !== "git_host_key_changed" || !ssh || address.protocol !== "ssh") return failure;
    const refused = errors.map((line) => PRESENTED_KEY.exec(line.trim())?.[1]).find((found) => found !== undefined);
    return ssh.hostKeyChanged(address, refused);
  }
}

/** The parts of a credential to mask in output: the whole value and the password. */
function partsOf(credential: Secret | undefined): Secret[] {
  if (!credential) return [];
  const value = credential.reveal();
  return [credential, new Secret(value.slice(value.indexOf(":") + 1))];
}

/** Filters git's progress, which repeats at every percent. */
function isWorthShowing(line: string): boolean {
  if (line.trim() === "" || NOISE.test(line)) return false;
  const percent = /: +(\d+)% \(/.exec(line)?.[1];
  return percent === undefined || line.endsWith("done.") || WORTH_SHOWING.has(Number(percent));
}
