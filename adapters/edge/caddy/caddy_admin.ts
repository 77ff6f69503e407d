import { request, type RequestOptions } from "node:http";
import { Failure } from "../../../domain/failure.ts";
import type { CaddyConfig } from "./caddy_config.ts";

/** The configuration of a running Caddy, and the version of it that a conditional write names. */
export interface FoundConfig {
  readonly config: CaddyConfig;
  readonly version: string | undefined;
}

/** A response of the admin API. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly version: string | undefined;
}

interface Sent {
  readonly body?: CaddyConfig;
  /** The version of the configuration that the request is only valid for. */
  readonly version?: string | undefined;
  readonly withinMs?: number;
}

const ANSWER_MS = 5_000;
/** Loading thousands of routes takes a while. */
const WRITE_MS = 30_000;
const MAX_SENTENCE = 500;
const PEM = /-----BEGIN [^]*?(?:-----END [^-]*-----|$)/g;

/** The admin API of a running Caddy. */
export class CaddyAdmin {
  /** As the setting has it. */
  readonly address: string;
  readonly #connection: RequestOptions;
  readonly #host: string;

  /** `address` is `http://host:port` or `unix:/path`. */
  constructor(address: string) {
    this.address = address;
    if (address.startsWith("unix:")) {
      this.#connection = { socketPath: address.slice("unix:".length) };
      // What Caddy expects on a Unix socket, as it has no host name.
      this.#host = "";
    } else {
      const { hostname, port, host } = new URL(address);
      this.#connection = { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 80 : Number(port) };
      this.#host = host;
    }
  }

  /** Reads the whole configuration. */
  async read(): Promise<FoundConfig> {
    const { text, version } = expectDone(await this.#ask("GET", "/config/"));
    return { config: (JSON.parse(text) ?? {}) as CaddyConfig, version };
  }

  /**
   * Replaces the whole configuration. Returns `false` if it was changed since it was read. Rejects with a `Failure` that
   * has Caddy's own sentence if Caddy refuses it; the former one is still served then.
   */
  async write(config: CaddyConfig, version: string | undefined): Promise<boolean> {
    const answer = await this.#ask("POST", "/config/", { body: config, version, withinMs: WRITE_MS });
    if (answer.status === 412) return false;
    expectDone(answer);
    return true;
  }

  /** Reads a text at a path of the configuration; `undefined` if there is none. */
  async readText(path: string): Promise<string | undefined> {
    const { status, text } = await this.#ask("GET", `/config/${path}`);
    // A path whose parents are missing is refused with 400.
    if (status !== 200) return undefined;
    const found: unknown = JSON.parse(text);
    return typeof found === "string" ? found : undefined;
  }

  /** The number of running requests of each upstream, by its address. */
  async runningRequests(): Promise<ReadonlyMap<string, number>> {
    const { text } = expectDone(await this.#ask("GET", "/reverse_proxy/upstreams"));
    const upstreams = JSON.parse(text) as readonly { readonly address: string; readonly num_requests: number }[] | null;
    return new Map((upstreams ?? []).map(({ address, num_requests: count }) => [address, count]));
  }

  async #ask(method: string, path: string, { body, version, withinMs = ANSWER_MS }: Sent = {}): Promise<Answer> {
    // Each on a connection of its own: Caddy closes those that are kept when it loads a configuration.
    const headers = ["Host", this.#host, "Connection", "close", "Content-Type", "application/json"];
    if (version !== undefined) headers.push("If-Match", version);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const signal = AbortSignal.timeout(withinMs);
    const options = { ...this.#connection, method, path, headers, agent: false, signal };
    const asked = request(options, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => (text += part));
      answer.on("error", reject);
      answer.on("end", () => {
        const etag = answer.trailers["etag"] ?? answer.headers["etag"];
        resolve({ status: answer.statusCode ?? 0, text, version: etag });
      });
    });
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    try {
      return await promise;
    } catch (cause) {
      throw this.#away(cause);
    }
  }

  #away(cause: unknown): Failure {
    const { code, name } = cause as { readonly code?: string; readonly name?: string };
    const why =
      name === "TimeoutError" || name === "AbortError" ? "it does not answer" : (code ?? "it does not answer");
    const next =
      code === "EACCES"
        ? "Give the server the right to connect to it"
        : "Start Caddy (on Debian: apt-get install caddy), or check CADDY_ADMIN";
    return new Failure("unavailable", "caddy_away", `Cannot reach Caddy at ${this.address}: ${why}. ${next}`, {
      cause,
    });
  }
}

/** Returns whether an error means that Caddy could not be reached. */
export function isAway(error: unknown): boolean {
  return error instanceof Failure && error.code === "caddy_away";
}

/** Returns whether an error means that Caddy has refused a configuration. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Failure && error.code === "caddy_refused";
}

/** The failure of a configuration that is not accepted. */
export function refused(why: string): Failure {
  return new Failure("unavailable", "caddy_refused", `Cannot configure Caddy: ${why}`);
}

function expectDone(answer: Answer): Answer {
  if (answer.status === 200) return answer;
  throw refused(sentenceOf(answer));
}

/** What Caddy says, without keys or certificates and not too long. */
function sentenceOf({ status, text }: Answer): string {
  let said = text;
  try {
    said = String((JSON.parse(text) as { readonly error?: unknown }).error ?? text);
  } catch {
    // It is no JSON.
  }
  const plain = said.replace(PEM, "[PEM]").trim().slice(0, MAX_SENTENCE);
  if (plain === "") return `it answers ${status}`;
  // Caddy 2.6 does not end the servers that it has started before another one could not listen.
  return /\blisten (?:tcp|udp)/.test(plain) ? `${plain}. Restart Caddy once it can listen there` : plain;
}
