import { secretMask } from "../../domain/deployments/secret_mask.ts";
import type { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { FetchTarget } from "../../ports/projects/sources.ts";
import type { GitAddress } from "./git_address.ts";
import { gitEnvironment } from "./git_environment.ts";
import { gitFailure } from "./git_failure.ts";
import { type GitOutcome, runGit } from "./git_program.ts";

/** How this installation uses git. */
export interface GitOptions {
  /** Where the keys of SSH hosts are remembered; its folder is created when needed. */
  readonly knownHostsFile: string;
  /** Whether addresses without encryption are taken. */
  readonly allowHttp?: boolean;
  /** The address to connect to for a host, or a failure where it must not be; redirects and LFS are off with it, as they could lead elsewhere. */
  readonly resolveAddress?: (host: string) => Promise<string>;
}

/** One command of git within a checkout. */
export interface GitCommand {
  readonly arguments: readonly string[];
  /** The repository it may talk to, when not the first. */
  readonly address?: GitAddress;
  /** Below the checkout. */
  readonly folder?: string;
  /** What goes after "Cannot" when it fails. */
  readonly action?: string;
  readonly branch?: string | null;
}

/** What git says of refs, and what the host says of its own progress. */
const NOISE = /^(From |Cloning into| \* |hint:|remote: (Enumerating|Counting|Compressing|Total) )/;
const WORTH_SHOWING = new Set([25, 50, 75]);

/** A folder that one repository is brought into. */
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

  /** Adds a line of our own to the log. */
  async say(line: string): Promise<void> {
    await this.#into.log(this.#mask(line), "stdout");
  }

  /** Runs git and gives its output, or fails with what it complained about. */
  async git(command: GitCommand): Promise<string> {
    const outcome = await this.try(command);
    if (outcome.code !== 0) throw this.#failure(outcome, command);
    return outcome.output;
  }

  /** Runs git, whatever comes of it. */
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

/** What must not be shown of a credential: it whole, and its password. */
function partsOf(credential: Secret | undefined): Secret[] {
  if (!credential) return [];
  const value = credential.reveal();
  return [credential, new Secret(value.slice(value.indexOf(":") + 1))];
}

/** Leaves out most of git's progress, which it repeats at every percent. */
function isWorthShowing(line: string): boolean {
  if (line.trim() === "" || NOISE.test(line)) return false;
  const percent = /: +(\d+)% \(/.exec(line)?.[1];
  return percent === undefined || line.endsWith("done.") || WORTH_SHOWING.has(Number(percent));
}
