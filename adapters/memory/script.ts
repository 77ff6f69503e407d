import type { ListeningSocket } from "../../domain/deployments/unreachable.ts";
import type { Instance, RunRequest } from "../../ports/services/runtime.ts";

/** The behavior of a program in a `MemoryRuntime`. */
export type Behaviour =
  /** Listens on its ports and responds to every request. `inside` is the requested container port. */
  | { readonly does: "answers"; readonly respond?: (request: Request, inside: number) => Response | Promise<Response> }
  /** Runs, but never listens, or only on these sockets. */
  | { readonly does: "keeps_silent"; readonly listens?: readonly ListeningSocket[] }
  /** Exits after each start: at once, or when `after` resolves. */
  | { readonly does: "ends"; readonly code: number; readonly after?: Promise<unknown> }
  | { readonly does: "takes_all_memory" };

type Health = NonNullable<Instance["health"]>;

/**
 * A behavior with the lines that the program prints at each start and when it is stopped, and the result of its health
 * check, fixed or computed on each check.
 */
export type Script = Behaviour & {
  readonly prints?: readonly string[];
  readonly lastWords?: readonly string[];
  readonly health?: Health | (() => Health);
};

/**
 * Returns the script of an instance by `service:<name>`, else by its command (the line, or the words joined by spaces),
 * else by its image. Without one, a one-shot exits with 0, and everything else responds to requests.
 */
export function scriptOf(scripts: ReadonlyMap<string, Script>, { service, runs, oneShot }: RunRequest): Script {
  const words = runs.kind === "image" ? (runs.container?.command ?? []).join(" ") : "";
  const keys = [`service:${service}`, runs.command ?? words, ...(runs.kind === "image" ? [runs.image] : [])];
  for (const key of keys) {
    const script = scripts.get(key);
    if (script) return script;
  }
  return oneShot ? { does: "ends", code: 0 } : { does: "answers" };
}

/** Returns the health check result of a running instance. A configured health check defaults to healthy. */
export function healthOf({ health }: Script, { runs }: RunRequest): Instance["health"] {
  if (health !== undefined) return typeof health === "function" ? health() : health;
  const check = runs.kind === "image" ? (runs.container?.healthcheck ?? null) : null;
  return check === null || check === "none" ? null : "healthy";
}
