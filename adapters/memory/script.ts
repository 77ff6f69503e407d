import type { ListeningSocket } from "../../domain/deployments/unreachable.ts";
import type { Instance, RunRequest } from "../../ports/services/runtime.ts";

/** What a program does in a `MemoryRuntime`. */
export type Behaviour =
  /** Listens on its ports and answers every request; it is told the port inside that was asked. */
  | { readonly does: "answers"; readonly respond?: (request: Request, inside: number) => Response | Promise<Response> }
  /** Runs, but never listens, or only at these places. */
  | { readonly does: "keeps_silent"; readonly listens?: readonly ListeningSocket[] }
  /** Ends each time it is started: at once, or `after` that has come. */
  | { readonly does: "ends"; readonly code: number; readonly after?: Promise<unknown> }
  | { readonly does: "takes_all_memory" };

type Health = NonNullable<Instance["health"]>;

/** A behaviour with what the program prints at each start and when it is stopped, and what its health check says, now or whenever it is asked. */
export type Script = Behaviour & {
  readonly prints?: readonly string[];
  readonly lastWords?: readonly string[];
  readonly health?: Health | (() => Health);
};

/**
 * The script of an instance: that of `service:<name>`, else that of its command (the line, or the words with spaces between), else that of its
 * image. Without one, what ends by itself ends well, and everything else answers.
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

/** What the health check of a running instance says; one that it brings says well unless told. */
export function healthOf({ health }: Script, { runs }: RunRequest): Instance["health"] {
  if (health !== undefined) return typeof health === "function" ? health() : health;
  const check = runs.kind === "image" ? (runs.container?.healthcheck ?? null) : null;
  return check === null || check === "none" ? null : "healthy";
}
