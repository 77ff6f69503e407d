import type { Secret } from "../../domain/secret.ts";
import type { CommandLineLogin } from "../../ports/githost/command_line_login.ts";
import type { MemoryGitHostState } from "./git_host.ts";

/** The login of a command-line client that tests set. */
export class MemoryCommandLineLogin implements CommandLineLogin {
  readonly #host: MemoryGitHostState;

  constructor(host: MemoryGitHostState) {
    this.#host = host;
  }

  async token(signal: AbortSignal): Promise<Secret | undefined> {
    signal.throwIfAborted();
    return this.#host.commandLineToken;
  }
}
