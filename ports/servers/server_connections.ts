import type { Failure } from "../../domain/failure.ts";
import type { RemoteTarget } from "./remote_hosts.ts";

/** A connection to another machine with a container engine. Disposing it releases the connection. */
export interface ServerConnection extends AsyncDisposable {
  /** The host key fingerprint that the machine presented: `SHA256:` and base64 without padding. */
  readonly hostKey: string;
  /** The address of its container engine, as in `DOCKER_HOST`, usable by this process until disposed. */
  readonly engineAddress: string;
  /** Why the machine or its engine could not be reached again when that was last needed; `undefined` while it works. */
  readonly failure: Failure | undefined;
  /**
   * Reads a file by its absolute path. Returns why not, if there is none, the user may not read it, it is no file, it
   * is larger than `maxBytes`, or reading it takes too long. Rejects with a `remote_failed` failure when the connection breaks.
   */
  readFile(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array | UnreadableFile>;
}

/** Why a file cannot be read. */
export type UnreadableFile = "absent" | "forbidden" | "no_answer" | "no_file" | "too_large";

/**
 * Connects to the container engines of other machines over SSH. Connections to the same machine with the same
 * credentials are shared, and kept for a while when nobody uses them.
 */
export interface ServerConnections {
  /**
   * Connects, and finds the engine that the user may use. Rejects like `RemoteHosts.connect`, or with a `remote_failed`
   * failure that says what to do: code `engine_missing` when no engine is installed, `engine_forbidden` when the user
   * may not use it, `engine_stopped` when it does not run.
   */
  open(
    target: RemoteTarget,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<ServerConnection>;
}
