import { secretMask } from "../../domain/deployments/secret_mask.ts";
import type { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { FetchTarget } from "../../ports/projects/sources.ts";
import type { GitAddress } from "./git_address.ts";
import { gitEnvironment } from "./git_environment.ts";
import { gitFailure } from "./git_failure.ts";
import { type GitOutcome, runGit } from "./git_program.ts";

/** Options of git access. */
export interface GitOptions {
  /** The known_hosts file of SSH host keys. Its folder is created when needed. */
  readonly knownHostsFile: string;
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

/** Matches lines about refs and progress of the remote, which are not logged. */
const NOISE = /^(From |Cloning into| \* |hint:|remote: (Enumerating|Counting|Compressing|Total) )/;
const WORTH_SHOWING = new Set([25, 50, 75]);

/** A folder into which one repository is cloned. */
export class GitCheckout {
  readonly address: GitAddress;
  readonly #options: GitOptions;
  readonly #into: FetchTarget;
  readonly #lfs: boolean;
  readonly #mask: (text: string) => string;

  constructor(address: GitAddress, into: FetchTarget, { lfs, ...options }: GitOptions & { readonly lfs: boolean }) {
    this.address = address;
    this.#options = options;
    this.#into = into;
    this.#lfs = lfs;
    const mask = secretMask(partsOf(into.credential));
    this.#mask = (text) => mask(text.replaceAll(`${into.folder}/`, "").replaceAll(into.folder, "."));
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
    const { credential, signal } = this.#into;
    const environment = gitEnvironment({
      address,
      allowHttp: this.allowHttp,
      knownHostsFile: this.#options.knownHostsFile,
      credential: credential && this.address.origin ? { origin: this.address.origin, secret: credential } : undefined,
      pinnedTo: await this.#options.resolveAddress?.(address.host),
      lfs: this.#lfs,
    });
    const onLine = (line: string) =>
      isWorthShowing(line) ? this.#into.log(this.#mask(line.trimEnd()), "stderr") : undefined;
    return runGit({ arguments: words, folder: `${this.folder}/${folder}`, environment, signal, onLine });
  }

  #failure({ errors }: GitOutcome, { action = "clone the repository", branch = null }: GitCommand): Failure {
    return gitFailure(errors, { action, branch, mask: this.#mask });
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
