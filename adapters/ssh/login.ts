import type { AuthenticationType, AuthHandlerMiddleware, KeyboardInteractiveAuthMethod, ParsedKey } from "ssh2";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { LoginTrace } from "./connection_failure.ts";

type NextAuthentication = Parameters<AuthHandlerMiddleware>[2];

const KNOWN_METHODS: readonly AuthenticationType[] = ["publickey", "password", "keyboard-interactive", "hostbased"];

/** Tries each credential of a target once, in an order the server accepts, and records the attempts. */
export class Login implements LoginTrace {
  readonly tried = new Set<AuthenticationType>();
  offered: readonly AuthenticationType[] = [];
  readonly #target: RemoteTarget;
  readonly #key: ParsedKey | undefined;

  constructor(target: RemoteTarget, key: ParsedKey | undefined) {
    this.#target = target;
    this.#key = key;
  }

  /** Chooses the next authentication attempt for ssh2, which passes `null` first and ends the login on `false`. */
  next(methods: readonly AuthenticationType[] | null, proceed: NextAuthentication): void {
    const username = this.#target.user;
    // The "none" method returns the methods that the server accepts.
    if (methods === null) return proceed({ type: "none", username });
    this.offered = KNOWN_METHODS.filter((method) => methods.includes(method));
    const type = this.#credentials().find((method) => methods.includes(method) && !this.tried.has(method));
    if (type) this.tried.add(type);
    const password = this.#target.password?.reveal() ?? "";
    if (type === "publickey" && this.#key) return proceed({ type, username, key: this.#key });
    if (type === "password") return proceed({ type, username, password });
    if (type === "keyboard-interactive") return proceed({ type, username, prompt: answerWith(password) });
    return proceed(false as never);
  }

  #credentials(): AuthenticationType[] {
    const password: AuthenticationType[] = ["password", "keyboard-interactive"];
    return [...(this.#key ? (["publickey"] as const) : []), ...(this.#target.password ? password : [])];
  }
}

/** Answers the first hidden prompt with the password and all others with an empty string. */
function answerWith(password: string): KeyboardInteractiveAuthMethod["prompt"] {
  let unused = true;
  return (...[, , , prompts, finish]) => {
    finish(
      prompts.map((prompt) => {
        if (!unused || prompt.echo !== false) return "";
        unused = false;
        return password;
      }),
    );
  };
}
