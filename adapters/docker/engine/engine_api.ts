import { connect as connectSocket, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Failure } from "../../../domain/failure.ts";
import { type EngineAddress, engineAddress } from "./engine_address.ts";
import { withTimeout } from "../../shared/deadline.ts";

/** An API version that engines of 2020 to 2025 support; later ones state the oldest that they support. */
const VERSION = "1.41";
const TOO_OLD = /minimum supported API version is (1\.\d{2,3})\b/i;
const TOO_NEW = /maximum supported API version is (1\.\d{2,3})\b/i;
const ANSWER_MS = 60_000;
const LONG = 10;

/** Options of a request to the engine. */
export interface EngineRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly json?: unknown;
  readonly body?: ReadableStream<Uint8Array> | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Timeout until the response begins. Defaults to the engine's `answerMs`; `null` for none. */
  readonly timeoutMs?: number | null;
  /** The first API version that supports this; an older engine gets the request in its own version. */
  readonly since?: string;
}

/** Timeouts of an engine. */
export interface AnswerLimits {
  /** For a response to begin or to continue. Defaults to 60 s. */
  readonly answerMs?: number;
  /** The same for slow operations. Defaults to ten times `answerMs`. */
  readonly longAnswerMs?: number;
}

/** The engine responded with an error status. */
export class EngineRefusal extends Error {
  override readonly name = "EngineRefusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The API of a Docker Engine at a `DOCKER_HOST` address. */
export class EngineApi {
  readonly #address: EngineAddress;
  #version = VERSION;
  /** Timeout for a response to begin or to continue. */
  readonly answerMs: number;
  /** The same for slow operations, such as removing large images. */
  readonly longAnswerMs: number;

  constructor(dockerHost: string, { answerMs = ANSWER_MS, longAnswerMs = LONG * answerMs }: AnswerLimits = {}) {
    this.answerMs = answerMs;
    this.longAnswerMs = longAnswerMs;
    this.#address = engineAddress(dockerHost);
  }

  /**
   * Sends a request and resolves to its successful response. Rejects with an `EngineRefusal`, with an `engine_away`
   * failure, or with the reason of the signal.
   */
  async request(method: string, path: string, options: EngineRequest = {}): Promise<Response> {
    const version = this.#version;
    try {
      return await this.#send(method, path, options);
    } catch (error) {
      const isRefused = error instanceof EngineRefusal && error.status === 400;
      if (isRefused && options.since !== undefined && TOO_NEW.test(error.message)) {
        const { since: _, ...plain } = options;
        return this.request(method, path, plain);
      }
      const oldest = isRefused ? TOO_OLD.exec(error.message)?.[1] : undefined;
      if (oldest === undefined || oldest === version || options.body instanceof ReadableStream) throw error;
      this.#version = oldest;
      return this.#send(method, path, options);
    }
  }

  async #send(method: string, path: string, options: EngineRequest): Promise<Response> {
    const { origin, ...socket } = this.#address;
    const { query = {}, json, body, headers = {}, signal, timeoutMs = this.answerMs } = options;
    const url = new URL(this.path(path, options.since), origin);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
    const slow = new AbortController();
    const timer = timeoutMs === null ? undefined : setTimeout(() => slow.abort(away("it does not answer")), timeoutMs);
    const answer = await fetch(url, {
      method,
      headers: { ...(json !== undefined && { "content-type": "application/json" }), ...headers },
      body: json === undefined ? body : JSON.stringify(json),
      redirect: "manual",
      // A connection kept alive would be dead if the engine was restarted meanwhile.
      keepalive: false,
      signal: signal ? AbortSignal.any([signal, slow.signal]) : slow.signal,
      ...socket,
    } as RequestInit)
      .catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw cause instanceof Failure ? cause : away("nothing answers there", cause);
      })
      .finally(() => clearTimeout(timer));
    if (answer.status < 400) return answer;
    throw new EngineRefusal(answer.status, messageOf(await this.inTime(answer.text()).catch(() => "")));
  }

  /** Sends a request and parses its JSON response; rejects like `request`. */
  async json<T>(method: string, path: string, options: EngineRequest = {}): Promise<T> {
    const ended = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
    try {
      const answer = await this.request(method, path, { ...options, signal });
      return (await this.inTime(answer.json())) as T;
    } catch (error) {
      options.signal?.throwIfAborted();
      throw error;
    } finally {
      // Otherwise the connection of a response that never ends would stay open.
      ended.abort();
    }
  }

  /** Awaits the rest of a response; rejects with an `engine_away` failure when it breaks off or times out. */
  async inTime<T>(rest: Promise<T>): Promise<T> {
    try {
      return await withTimeout(this.answerMs, rest, () => away("it does not answer"));
    } catch (cause) {
      throw cause instanceof Failure ? cause : away("its response ended early", cause);
    }
  }

  /** Like `json`, but resolves to `undefined` for 404. */
  async known<T>(method: string, path: string, options: EngineRequest = {}): Promise<T | undefined> {
    try {
      return await this.json<T>(method, path, options);
    } catch (error) {
      if (error instanceof EngineRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Opens a raw connection for an HTTP upgrade; rejects with an `engine_away` failure if that fails or times out. */
  connect(): Promise<Socket> {
    const { origin, unix } = this.#address;
    const { protocol, port } = origin;
    const host = origin.hostname.replace(/^\[(.*)\]$/, "$1");
    return new Promise((resolve, reject) => {
      const socket =
        unix !== undefined
          ? connectSocket(unix)
          : protocol === "https:"
            ? connectTls({ host, port: Number(port || 443), ...(isIP(host) === 0 && { servername: host }) })
            : connectSocket(Number(port || 80), host);
      const timer = setTimeout(() => socket.destroy(away("it does not answer")), this.answerMs);
      socket.once("close", () => clearTimeout(timer));
      socket.once(protocol === "https:" ? "secureConnect" : "connect", () => {
        clearTimeout(timer);
        resolve(socket);
      });
      socket.once("error", (cause: unknown) =>
        reject(cause instanceof Failure ? cause : away("nothing answers there", cause)),
      );
    });
  }

  /** Returns the path of a request with its API version. */
  path(path: string, since = VERSION): string {
    return `/v${minor(since) > minor(this.#version) ? since : this.#version}${path}`;
  }
}

function minor(version: string): number {
  return Number(version.split(".")[1]);
}

/** Returns the failure for an engine that is unavailable. */
export function away(why: string, cause?: unknown): Failure {
  return new Failure(
    "unavailable",
    "engine_away",
    `Cannot use Docker: ${why}. Start it, or check DOCKER_HOST`,
    cause === undefined ? {} : { cause },
  );
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === "string" ? message : text;
  } catch {
    return text;
  }
}
