import type { ContainerEngine } from "../../../ports/deployments/container_engine.ts";
import { engineAddress } from "./engine_address.ts";

const DEFAULT_TIMEOUT_MS = 5000;
const FRESH_MS = 2000;

/** Asks whether the engine at a `DOCKER_HOST` address responds. */
export class DockerContainerEngine implements ContainerEngine {
  readonly #dockerHost: string | (() => Promise<string>);
  #checked: { readonly at: number; readonly answer: Promise<boolean> } | undefined;

  /** An address that is not known yet is asked for when it is needed; nothing answers where that rejects. */
  constructor(dockerHost: string | (() => Promise<string>)) {
    this.#dockerHost = dockerHost;
  }

  answers({ withinMs }: { readonly withinMs?: number } = {}): Promise<boolean> {
    if (withinMs !== undefined) return engineAnswers(this.#dockerHost, { timeoutMs: withinMs });
    const now = performance.now();
    // Callers need no credentials, so frequent calls share one request to the engine.
    if (!this.#checked || now - this.#checked.at > FRESH_MS) {
      this.#checked = { at: now, answer: engineAnswers(this.#dockerHost) };
    }
    return this.#checked.answer;
  }
}

/** Returns whether a Docker Engine responds there within `timeoutMs` (defaults to 5 s); never rejects. */
export async function engineAnswers(
  dockerHost: string | (() => Promise<string>),
  { timeoutMs = DEFAULT_TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<boolean> {
  try {
    const { origin, ...options } = engineAddress(typeof dockerHost === "string" ? dockerHost : await dockerHost());
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(new URL("/_ping", origin), { ...options, signal, redirect: "manual" });
    const engine = response.headers.get("api-version");
    await response.body?.cancel();
    // Any web server may respond 200 to anything; an engine states its API version.
    return response.ok && engine !== null;
  } catch {
    return false;
  }
}
