import type { Secret } from "../../domain/secret.ts";

/** How to reach and enter another machine. */
export interface RemoteTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: Secret | undefined;
  readonly privateKey?: Secret | undefined;
  readonly keyPassphrase?: Secret | undefined;
  /** Fingerprint (`SHA256:…`) the machine must show; absent: any is taken and reported. */
  readonly hostKey?: string | undefined;
}

/** How a command on a remote machine ended. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An open connection; disposing closes it. */
export interface RemoteSession extends AsyncDisposable {
  /** Fingerprint the machine showed, `SHA256:` and base64 without padding. */
  readonly hostKey: string;
  /**
   * Runs one program with exactly these arguments, whatever characters they hold. Output beyond `maxBytes` (1 MiB
   * unless told) per stream is cut. Rejects with a `remote_failed` failure when the connection breaks or time runs out.
   */
  run(
    argv: readonly string[],
    options?: { readonly signal?: AbortSignal; readonly maxBytes?: number },
  ): Promise<CommandResult>;
}

/** Opens connections to other machines. */
export interface RemoteHosts {
  /**
   * Connects and authenticates within `timeoutMs` (10 s unless told). Rejects with a `remote_failed` failure whose code is one of
   * `unreachable`, `auth_failed`, `timeout`, `misconfigured` (unusable key or passphrase) and whose sentence holds no
   * secret; or with a `conflict` failure, code `host_key_changed`, naming both fingerprints, before any credential is sent.
   */
  connect(
    target: RemoteTarget,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<RemoteSession>;
}
