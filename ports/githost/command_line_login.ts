import type { Secret } from "../../domain/secret.ts";

/** The login of the git host's command-line client on this machine, or the token that the operator configured. */
export interface CommandLineLogin {
  /** Returns the token; `undefined` if the client is missing or not logged in. Never rejects because of the client. */
  token(signal: AbortSignal): Promise<Secret | undefined>;
}
