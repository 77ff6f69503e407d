import { constants } from "node:os";
import type { Client, ClientChannel } from "ssh2";
import { Failure, invalid } from "../../domain/failure.ts";
import { shellWord } from "../../domain/shell_word.ts";
import type { CommandResult, RemoteSession, RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import { BoundedOutput } from "./bounded_output.ts";
import { place } from "./connection_failure.ts";
import { hangUp } from "./hang_up.ts";
import type { Connection } from "./open_connection.ts";

const DEFAULT_MAX_BYTES = 1024 * 1024;
const ASK_AGAIN_MS = [250, 1_000];
const FORCE_MS = 5_000;

/** Runs programs over one SSH connection. */
export class SshSession implements RemoteSession {
  readonly hostKey: string;
  readonly #client: Client;
  readonly #socket: Connection["socket"];
  readonly #target: RemoteTarget;

  constructor(connection: Connection, target: RemoteTarget) {
    this.hostKey = connection.hostKey;
    this.#client = connection.client;
    this.#socket = connection.socket;
    this.#target = target;
  }

  async run(
    argv: readonly string[],
    { signal, maxBytes = DEFAULT_MAX_BYTES }: { signal?: AbortSignal; maxBytes?: number } = {},
  ): Promise<CommandResult> {
    if (!argv[0]) throw invalid("invalid_argument", "Cannot run a program without a name");
    // Ends stdin at once. Ending the channel's input would do so too, but ssh2 then no longer sends signals.
    const command = `${argv.map(shellWord).join(" ")} </dev/null`;
    const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
    let channel: ClientChannel | undefined;
    const stop = () => {
      if (channel) abandon(channel);
      reject(this.#failure("timeout", "it did not end in the time allowed, or was cancelled."));
    };
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      if (!signal?.aborted) {
        this.#client.exec(command, (error, opened) => {
          if (error)
            return reject(this.#failure("unreachable", "the connection broke, or the server refused to run it."));
          channel = opened;
          if (signal?.aborted) return abandon(opened);
          collect(opened, maxBytes, (result) => {
            if (result) resolve(result);
            else reject(this.#failure("unreachable", "the connection broke before it ended."));
          });
        });
      }
      return await promise;
    } catch (error) {
      throw error instanceof Failure ? error : this.#failure("unreachable", "the connection is closed.");
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await hangUp({ client: this.#client, socket: this.#socket });
  }

  #failure(code: string, why: string): Failure {
    return new Failure("remote_failed", code, `Cannot run the command on ${place(this.#target)}: ${why}`);
  }
}

/** Collects a program's output until its channel closes. Passes `undefined` when no exit status arrived. */
function collect(channel: ClientChannel, maxBytes: number, done: (result: CommandResult | undefined) => void): void {
  const stdout = new BoundedOutput(maxBytes);
  const stderr = new BoundedOutput(maxBytes);
  let exitCode: number | undefined;
  channel.on("data", (chunk: Buffer) => stdout.add(chunk));
  channel.stderr.on("data", (chunk: Buffer) => stderr.add(chunk));
  channel.on("exit", (code: number | null, signalName?: string) => {
    exitCode = code ?? 128 + (Object.entries(constants.signals).find(([name]) => name === signalName)?.[1] ?? 0);
  });
  channel.on("close", () =>
    done(exitCode === undefined ? undefined : { exitCode, stdout: stdout.text(), stderr: stderr.text() }),
  );
  channel.on("error", () => done(undefined));
}

/**
 * Sends SIGTERM repeatedly until the program ends, finally SIGKILL, and closes its channel. Repeated because a server
 * drops signals for a program that it is just about to start.
 */
function abandon(channel: ClientChannel): void {
  channel.on("error", () => {});
  channel.resume();
  channel.stderr.resume();
  channel.signal("TERM");
  const again = ASK_AGAIN_MS.map((ms) => setTimeout(() => channel.signal("TERM"), ms));
  const byForce = setTimeout(() => {
    channel.signal("KILL");
    channel.close();
  }, FORCE_MS);
  channel.on("close", () => [...again, byForce].forEach(clearTimeout));
}
