import type { Duplex } from "node:stream";
import { Failure } from "../../../domain/failure.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import type { UnreadableFile } from "../../../ports/servers/server_connections.ts";
import { unlessAborted, withTimeout } from "../../shared/deadline.ts";
import { connectFailure } from "../connection_failure.ts";
import { dialWithin } from "../dial_within.ts";
import type { ResolveAddress } from "../dial.ts";
import { hangUp } from "../hang_up.ts";
import type { Connection } from "../open_connection.ts";
import { SftpSession } from "../sftp/sftp_session.ts";
import { endPolitely, type EngineRoute, openEngine, openPort } from "./engine_route.ts";
import { findEngine } from "./find_engine.ts";
import { LocalListener } from "./local_listener.ts";
import { readRemoteFile } from "./remote_file.ts";
import { Turns } from "../../shared/turns.ts";
import { whenAdmitted } from "./when_admitted.ts";

/** How a server is connected to. */
export interface SharedServerOptions {
  readonly resolveAddress: ResolveAddress | undefined;
  /** The folder for the socket that leads to its engine. */
  readonly folder: string;
}

/** How a connection is to be made ready. */
interface ReadyOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

const REDIAL_MS = 10_000;
const ANSWER_MS = 5_000;
const FILE_MS = 5_000;
/** Servers allow ten programs at a time on a connection by default, and SFTP counts as one. */
const PROGRAMS = 8;

/** One connection to a machine with a container engine, for everybody who uses it; made anew when it broke. */
export class SharedServer implements AsyncDisposable {
  readonly #target: RemoteTarget;
  readonly #options: SharedServerOptions;
  readonly #programs = new Turns(PROGRAMS);
  #connection: Promise<Connection> | undefined;
  /** How the engine was found on a connection. */
  #route: { readonly of: Connection; readonly found: Promise<EngineRoute> } | undefined;
  #engine: ReturnType<typeof LocalListener.onSocket> | undefined;
  #files: { readonly of: Connection; readonly session: Promise<SftpSession> } | undefined;
  #pinned: string | undefined;
  #failure: Failure | undefined;

  constructor(target: RemoteTarget, options: SharedServerOptions) {
    this.#target = target;
    this.#options = options;
    this.#pinned = target.hostKey;
  }

  /**
   * Connects if there is no connection, and verifies that the engine accepts connections. Returns the host key and the
   * address of the engine on this machine.
   */
  async ready({ signal, timeoutMs }: ReadyOptions): Promise<{ hostKey: string; engineAddress: string }> {
    const wasOpen = this.#connection !== undefined;
    try {
      return await this.#verified({ signal, timeoutMs });
    } catch (error) {
      // Whoever leaves must not take the connection from the others, and neither must an engine that does not run.
      if (signal.aborted || isAboutEngine(error)) throw error;
      await this.#drop();
      // A connection that was idle may have broken unnoticed.
      if (!wasOpen) throw error;
      return this.#verified({ signal, timeoutMs });
    }
  }

  /** Why the last attempt to connect, or to find the engine, failed; `undefined` if it succeeded. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Opens a connection to a port of that machine's loopback address. */
  async openPort(port: number): Promise<Duplex> {
    return openPort((await this.#current()).client, port);
  }

  async readFile(
    path: string,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Uint8Array | UnreadableFile> {
    const connection = await this.#current();
    try {
      const session = await this.#sftp(connection).catch((error: unknown) => {
        if (connection.socket.destroyed) throw error;
      });
      // A server that transfers no files to this user.
      if (!session) return "forbidden";
      const limit = AbortSignal.timeout(FILE_MS);
      const within = signal ? AbortSignal.any([signal, limit]) : limit;
      return await readRemoteFile(session, path, { maxBytes, signal: within }).catch((error: unknown) => {
        if (!within.aborted) throw error;
        // It may be stuck, and would hold up all later files.
        if (this.#files?.of === connection) this.#files = undefined;
        session.end();
        if (signal?.aborted) throw error;
        return "no_answer" as const;
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Failure) throw error;
      throw connectFailure(this.#target, "unreachable", "the connection broke while a file was read.", error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await this.#engine?.catch(() => undefined);
    this.#engine = undefined;
    await opened?.listener[Symbol.asyncDispose]();
    await this.#drop();
  }

  async #verified(options: ReadyOptions): Promise<{ hostKey: string; engineAddress: string }> {
    this.#connection ??= this.#dial(options);
    const connection = await unlessAborted(this.#connection, options.signal);
    options.signal.throwIfAborted();
    // Looked for anew each time nobody can connect: it may have been installed, started or moved since.
    const opened = unlessAborted(this.#open(connection), options.signal);
    endPolitely(await withTimeout(ANSWER_MS, opened, () => this.#silent()));
    return { hostKey: connection.hostKey, engineAddress: `unix://${(await this.#listening()).path}` };
  }

  /** Returns the connection, made anew if it broke. */
  #current(): Promise<Connection> {
    this.#connection ??= this.#dial({ signal: AbortSignal.timeout(REDIAL_MS), timeoutMs: REDIAL_MS });
    return this.#connection;
  }

  #dial({ signal, timeoutMs }: ReadyOptions): Promise<Connection> {
    const { resolveAddress } = this.#options;
    const target = { ...this.#target, hostKey: this.#pinned };
    const dialling = dialWithin(target, { resolveAddress, signal, timeoutMs });
    const forget = () => {
      if (this.#connection === dialling) this.#connection = undefined;
    };
    dialling.then(
      ({ hostKey, socket }) => {
        this.#failure = undefined;
        // Whoever answers next time must be the same machine.
        this.#pinned ??= hostKey;
        if (socket.destroyed) forget();
        else socket.once("close", forget);
      },
      (error: unknown) => {
        this.#failure = error instanceof Failure ? error : undefined;
        forget();
      },
    );
    return dialling;
  }

  /** Opens a connection to the engine; if the way to it is gone, looks for another one. */
  async #open(connection: Connection): Promise<Duplex> {
    const known = this.#route;
    if (known?.of === connection) {
      try {
        return await this.#openBy(connection, await known.found);
      } catch {
        if (this.#route === known) this.#route = undefined;
      }
    }
    return this.#openBy(connection, await this.#find(connection));
  }

  #find(connection: Connection): Promise<EngineRoute> {
    if (this.#route?.of !== connection) {
      const found = findEngine(connection, this.#target, AbortSignal.timeout(REDIAL_MS));
      this.#route = { of: connection, found };
      found.then(
        () => (this.#failure = undefined),
        (error: unknown) => {
          this.#route = undefined;
          this.#failure = error instanceof Failure ? error : undefined;
        },
      );
    }
    return this.#route!.found;
  }

  async #openBy({ client }: Connection, route: EngineRoute): Promise<Duplex> {
    if (route.kind === "socket") return openEngine(client, route);
    const leave = await this.#programs.take();
    try {
      const channel = await whenAdmitted(() => openEngine(client, route));
      channel.once("close", leave);
      return channel;
    } catch (error) {
      leave();
      throw error;
    }
  }

  #listening(): Promise<{ readonly path: string }> {
    this.#engine ??= LocalListener.onSocket(this.#options.folder, async () => this.#open(await this.#current()));
    return this.#engine;
  }

  #sftp(connection: Connection): Promise<SftpSession> {
    if (this.#files?.of !== connection) {
      const session = whenAdmitted(() => SftpSession.on(connection, undefined)).catch((error: unknown) => {
        this.#files = undefined;
        throw error;
      });
      this.#files = { of: connection, session };
    }
    return this.#files.session;
  }

  async #drop(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    this.#connection = undefined;
    this.#route = undefined;
    this.#files = undefined;
    if (connection) await hangUp(connection);
  }

  #silent(): Failure {
    return connectFailure(this.#target, "timeout", "its container engine does not accept connections in time.");
  }
}

/** Whether the machine answers, but its container engine cannot be used. */
function isAboutEngine(error: unknown): boolean {
  return error instanceof Failure && error.code.startsWith("engine_");
}
