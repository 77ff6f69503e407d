import type { Secret } from "../../domain/secret.ts";

/** SSH address and credentials of another machine. */
export interface RemoteTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: Secret | undefined;
  readonly privateKey?: Secret | undefined;
  readonly keyPassphrase?: Secret | undefined;
  /** Host key fingerprint (`SHA256:…`) that the machine must present. Absent: any is accepted and reported. */
  readonly hostKey?: string | undefined;
}

/** The result of a command on a remote machine. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An open connection; disposing it closes it. */
export interface RemoteSession extends AsyncDisposable {
  /** The host key fingerprint that the machine presented: `SHA256:` and base64 without padding. */
  readonly hostKey: string;
  /**
   * Runs one program with exactly these arguments, quoted for any characters. Output beyond `maxBytes` (defaults to 1
   * MiB) per stream is cut off. Rejects with a `remote_failed` failure when the connection breaks or times out.
   */
  run(
    argv: readonly string[],
    options?: { readonly signal?: AbortSignal; readonly maxBytes?: number },
  ): Promise<CommandResult>;
}

/** Opens SSH connections to other machines. */
export interface RemoteHosts {
  /**
   * Connects and authenticates within `timeoutMs` (defaults to 10 s). Rejects with a `remote_failed` failure, code
   * `unreachable`, `auth_failed`, `timeout` or `misconfigured` (unusable key or passphrase), whose message contains no
   * secret; or with a `conflict` failure, code `host_key_changed`, naming both fingerprints, before any credential is
   * sent.
   */
  connect(
    target: RemoteTarget,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<RemoteSession>;
}
