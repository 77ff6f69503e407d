import { connect as connectSocket, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Failure } from "../../../domain/failure.ts";

/** A version of the interface that engines of 2020 to 2025 speak; later ones say which is the oldest that they do. */
const VERSION = "1.41";
const TOO_OLD = /minimum supported API version is (1\.\d{2,3})\b/i;
const TOO_NEW = /maximum supported API version is (1\.\d{2,3})\b/i;
const ANSWER_MS = 60_000;
const LONG = 10;

/** What is asked of the engine. */
export interface EngineRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly json?: unknown;
  readonly body?: ReadableStream<Uint8Array> | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** How long until it begins to answer; as the engine has it unless told, `null` for as long as it takes. */
  readonly timeoutMs?: number | null;
  /** The first version of the interface that knows this; an engine that is older is asked in its own. */
  readonly since?: string;
}

/** How long an engine may take. */
export interface AnswerLimits {
  /** To begin to answer, or to go on. Defaults to a minute. */
  readonly answerMs?: number;
  /** The same for what keeps it busy. Defaults to ten times as long. */
  readonly longAnswerMs?: number;
}

/** The engine said no. */
export class EngineRefusal extends Error {
  override readonly name = "EngineRefusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A Docker Engine at a `DOCKER_HOST` address: `unix://` with a path, `tcp://`, `http://` or `https://`. */
export class EngineApi {
  readonly #origin: URL;
  readonly #unix: string | undefined;
  #version = VERSION;
  /** How long it may take to begin to answer, or to go on. */
  readonly answerMs: number;
  /** The same for what keeps it busy, such as removing large images. */
  readonly longAnswerMs: number;

  constructor(dockerHost: string, { answerMs = ANSWER_MS, longAnswerMs = LONG * answerMs }: AnswerLimits = {}) {
    this.answerMs = answerMs;
    this.longAnswerMs = longAnswerMs;
    this.#unix = dockerHost.startsWith("unix://") ? dockerHost.slice("unix://".length) : undefined;
    this.#origin = new URL(this.#unix ? "http://docker" : dockerHost.replace(/^tcp:\/\//, "http://"));
  }

  /** Asks, and resolves to an answer of success; rejects with an `EngineRefusal`, with an `engine_away` failure, or with the reason of the signal. */
  async request(method: string, path: string, asked: EngineRequest = {}): Promise<Response> {
    const version = this.#version;
    try {
      return await this.#ask(method, path, asked);
    } catch (error) {
      const isRefused = error instanceof EngineRefusal && error.status === 400;
      if (isRefused && asked.since !== undefined && TOO_NEW.test(error.message)) {
        const { since: _, ...plain } = asked;
        return this.request(method, path, plain);
      }
      const oldest = isRefused ? TOO_OLD.exec(error.message)?.[1] : undefined;
      if (oldest === undefined || oldest === version || asked.body instanceof ReadableStream) throw error;
      this.#version = oldest;
      return this.#ask(method, path, asked);
    }
  }

  async #ask(method: string, path: string, asked: EngineRequest): Promise<Response> {
    const { query = {}, json, body, headers = {}, signal, timeoutMs = this.answerMs } = asked;
    const url = new URL(this.path(path, asked.since), this.#origin);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
    const slow = new AbortController();
    const timer = timeoutMs === null ? undefined : setTimeout(() => slow.abort(away("it does not answer")), timeoutMs);
    const answer = await fetch(url, {
      method,
      headers: { ...(json !== undefined && { "content-type": "application/json" }), ...headers },
      body: json === undefined ? body : JSON.stringify(json),
      redirect: "manual",
      // A connection kept for later may be one that an engine which was restarted meanwhile has forgotten.
      keepalive: false,
      signal: signal ? AbortSignal.any([signal, slow.signal]) : slow.signal,
      ...(this.#unix !== undefined && { unix: this.#unix }),
    } as RequestInit)
      .catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw cause instanceof Failure ? cause : away("nothing answers there", cause);
      })
      .finally(() => clearTimeout(timer));
    if (answer.status < 400) return answer;
    throw new EngineRefusal(answer.status, messageOf(await this.inTime(answer.text()).catch(() => "")));
  }

  /** The JSON of an answer; fails as `request` does. */
  async json<T>(method: string, path: string, asked: EngineRequest = {}): Promise<T> {
    const ended = new AbortController();
    const signal = asked.signal ? AbortSignal.any([asked.signal, ended.signal]) : ended.signal;
    try {
      const answer = await this.request(method, path, { ...asked, signal });
      return (await this.inTime(answer.json())) as T;
    } catch (error) {
      asked.signal?.throwIfAborted();
      throw error;
    } finally {
      // Else the connection of an answer that never ends would stay open.
      ended.abort();
    }
  }

  /** What an answer goes on with; rejects with an `engine_away` failure when it breaks off or does not come. */
  async inTime<T>(rest: Promise<T>): Promise<T> {
    const { promise: slow, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(away("it does not answer")), this.answerMs);
    try {
      return await Promise.race([rest, slow]);
    } catch (cause) {
      throw cause instanceof Failure ? cause : away("its answer broke off", cause);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The JSON of an answer, or `undefined` when the engine does not know what was asked for. */
  async known<T>(method: string, path: string, asked: EngineRequest = {}): Promise<T | undefined> {
    try {
      return await this.json<T>(method, path, asked);
    } catch (error) {
      if (error instanceof EngineRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  /** A connection on which HTTP has yet to be spoken, for what is upgraded; rejects with an `engine_away` failure when there is none in time. */
  connect(): Promise<Socket> {
    const { protocol, port } = this.#origin;
    const host = this.#origin.hostname.replace(/^\[(.*)\]$/, "$1");
    return new Promise((resolve, reject) => {
      const socket =
        this.#unix !== undefined
          ? connectSocket(this.#unix)
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

  /** The path of a request on a connection of its own. */
  path(path: string, since = VERSION): string {
    return `/v${minor(since) > minor(this.#version) ? since : this.#version}${path}`;
  }
}

function minor(version: string): number {
  return Number(version.split(".")[1]);
}

/** The failure of an engine that is not there. */
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
