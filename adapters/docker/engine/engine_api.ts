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
/** Clocks that differ by less than this count as the same. */
const NEAR_MS = 2_000;

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
  /** For an engine that is not trusted: the most bytes of a JSON response. */
  readonly maxJsonBytes?: number;
}

/** An engine whose address is only known once it is reached, such as one of another machine. */
export interface DistantEngine {
  /** Resolves to its address, as in `DOCKER_HOST`. Rejects with a failure that says why it cannot be reached. */
  readonly address: () => Promise<string>;
  /** Why it cannot be reached, as far as that is known. */
  readonly failure: () => Failure | undefined;
  /** Its name for people, such as `the server "Berlin 1"`. */
  readonly name: () => string;
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
  readonly #address: () => EngineAddress | Promise<EngineAddress>;
  readonly #distant: DistantEngine | undefined;
  readonly #maxJsonBytes: number | undefined;
  #clockOffsetMs = 0;
  #version = VERSION;
  /** Timeout for a response to begin or to continue. */
  readonly answerMs: number;
  /** The same for slow operations, such as removing large images. */
  readonly longAnswerMs: number;

  constructor(
    engine: string | DistantEngine,
    { answerMs = ANSWER_MS, longAnswerMs = LONG * answerMs, maxJsonBytes }: AnswerLimits = {},
  ) {
    this.#maxJsonBytes = maxJsonBytes;
    this.answerMs = answerMs;
    this.longAnswerMs = longAnswerMs;
    if (typeof engine === "string") {
      const known = engineAddress(engine);
      this.#address = () => known;
    } else {
      this.#distant = engine;
      this.#address = () => this.#distantAddress(engine);
    }
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
    const { origin, ...socket } = await this.#address();
    const { query = {}, json, body, headers = {}, signal, timeoutMs = this.answerMs } = options;
    const url = new URL(this.path(path, options.since), origin);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
    const slow = new AbortController();
    const timer =
      timeoutMs === null ? undefined : setTimeout(() => slow.abort(this.#away("it does not answer")), timeoutMs);
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
        throw cause instanceof Failure ? cause : this.#away("nothing answers there", cause);
      })
      .finally(() => clearTimeout(timer));
    if (this.#distant) this.#noteClock(answer);
    if (answer.status < 400) return answer;
    throw new EngineRefusal(answer.status, messageOf(await this.inTime(answer.text()).catch(() => "")));
  }

  /** Sends a request and parses its JSON response; rejects like `request`. */
  async json<T>(method: string, path: string, options: EngineRequest = {}): Promise<T> {
    const ended = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
    try {
      const answer = await this.request(method, path, { ...options, signal });
      return (await this.inTime(this.#maxJsonBytes === undefined ? answer.json() : this.#parsed(answer))) as T;
    } catch (error) {
      options.signal?.throwIfAborted();
      throw error;
    } finally {
      // Otherwise the connection of a response that never ends would stay open.
      ended.abort();
    }
  }

  /** Parses a response of bounded size. */
  async #parsed(answer: Response): Promise<unknown> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      if (bytes > this.#maxJsonBytes!) throw this.#away("its response is larger than any sensible one");
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  }

  /** Awaits the rest of a response; rejects with an `engine_away` failure when it breaks off or times out. */
  async inTime<T>(rest: Promise<T>): Promise<T> {
    try {
      return await withTimeout(this.answerMs, rest, () => this.#away("it does not answer"));
    } catch (cause) {
      throw cause instanceof Failure ? cause : this.#away("its response ended early", cause);
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
  async connect(): Promise<Socket> {
    const { origin, unix } = await this.#address();
    const { protocol, port } = origin;
    const host = origin.hostname.replace(/^\[(.*)\]$/, "$1");
    return new Promise((resolve, reject) => {
      const socket =
        unix !== undefined
          ? connectSocket(unix)
          : protocol === "https:"
            ? connectTls({ host, port: Number(port || 443), ...(isIP(host) === 0 && { servername: host }) })
            : connectSocket(Number(port || 80), host);
      const timer = setTimeout(() => socket.destroy(this.#away("it does not answer")), this.answerMs);
      socket.once("close", () => clearTimeout(timer));
      socket.once(protocol === "https:" ? "secureConnect" : "connect", () => {
        clearTimeout(timer);
        resolve(socket);
      });
      socket.once("error", (cause: unknown) =>
        reject(cause instanceof Failure ? cause : this.#away("nothing answers there", cause)),
      );
    });
  }

  /** Returns the present time in milliseconds, by the clock of the engine's machine. */
  now(): number {
    return Date.now() + this.#clockOffsetMs;
  }

  /** Takes the clock of another machine from its responses, which state whole seconds. */
  #noteClock(answer: Response): void {
    const at = Date.parse(answer.headers.get("date") ?? "");
    const offsetMs = at - Date.now();
    if (Number.isFinite(at)) this.#clockOffsetMs = Math.abs(offsetMs) > NEAR_MS ? offsetMs : 0;
  }

  async #distantAddress(engine: DistantEngine): Promise<EngineAddress> {
    try {
      return engineAddress(await engine.address());
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // Whatever keeps it from being reached, what runs there may still run.
      throw new Failure("unavailable", "engine_away", error.message, { cause: error });
    }
  }

  #away(why: string, cause?: unknown): Failure {
    if (!this.#distant) return away(why, cause);
    const known = this.#distant.failure();
    if (known) return new Failure("unavailable", "engine_away", known.message, { cause: cause ?? known });
    const sentence = `Cannot use the container engine of ${this.#distant.name()}: ${why}. Check that it runs there`;
    return new Failure("unavailable", "engine_away", sentence, cause === undefined ? {} : { cause });
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
