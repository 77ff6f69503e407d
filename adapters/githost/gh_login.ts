import { Secret } from "../../domain/secret.ts";
import type { CommandLineLogin } from "../../ports/githost/command_line_login.ts";
import { unlessAborted, withTimeout } from "../shared/deadline.ts";

/** Where the token comes from. */
export interface GhLoginSettings {
  /** The token that the operator configured; the client is not asked then. */
  readonly token?: Secret | undefined;
  readonly webUrl: string;
  /** The client's program. Defaults to `gh`, looked up on the PATH. */
  readonly program?: string;
}

const TIMEOUT_MS = 3_000;
const REMEMBERED_MS = 10_000;

/** The login of the git host's command-line client `gh`, asked for at most every ten seconds. */
export class GhLogin implements CommandLineLogin {
  readonly #settings: GhLoginSettings;
  #answer: { readonly token: Promise<Secret | undefined>; readonly until: number } | undefined;

  constructor(settings: GhLoginSettings) {
    this.#settings = settings;
  }

  async token(signal: AbortSignal): Promise<Secret | undefined> {
    signal.throwIfAborted();
    if (this.#settings.token) return this.#settings.token;
    if (!this.#answer || this.#answer.until <= performance.now())
      this.#answer = { token: this.#ask(), until: performance.now() + REMEMBERED_MS };
    return await unlessAborted(this.#answer.token, signal);
  }

  /** Asks the client. Its absence, failure or silence means that it is not logged in. */
  async #ask(): Promise<Secret | undefined> {
    const { program: name = "gh", webUrl } = this.#settings;
    const program = Bun.which(name);
    if (program === null) return undefined;
    try {
      const client = Bun.spawn([program, "auth", "token", "--hostname", new URL(webUrl).host], {
        stdio: ["ignore", "pipe", "ignore"],
        timeout: TIMEOUT_MS,
        killSignal: "SIGKILL",
      });
      // A program that the client started may hold the output open after the client's end.
      const [output, code] = await withTimeout(TIMEOUT_MS, Promise.all([client.stdout.text(), client.exited]));
      const token = output.trim();
      return code === 0 && /^[\x21-\x7E]+$/.test(token) ? new Secret(token) : undefined;
    } catch {
      return undefined;
    }
  }
}
