import { secretMask } from "../../../domain/deployments/secret_mask.ts";
import { invalid } from "../../../domain/failure.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import { EngineRefusal } from "../engine/engine_api.ts";
import { engineRefused } from "../engine/refusals.ts";

const LONGEST = 300;

/** Matches a port in use, or a network that another server is removing or creating at the same time. */
const PASSING = /already allocated|address already in use|pool overlaps|network .*(not found|is ambiguous)/i;

/** Whether a retry with another port, in a recreated network, may succeed. */
export function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof EngineRefusal && PASSING.test(error.message);
}

/**
 * Converts the engine's refusal to start a container into a failure; returns other errors unchanged. Contains no value
 * of the container's environment.
 */
export function startFailure(error: unknown, { environment, runs }: RunRequest<RunnableImage>): unknown {
  if (!(error instanceof EngineRefusal)) return error;
  const words = secretMask(environment.values())(error.message);
  const cause = new Error(words);
  if (/no such image/i.test(words)) {
    const message = "Cannot start this: its image is not on the engine any more; deploy it again";
    return invalid("image_missing", message, { cause });
  }
  const [, path] = /bind source path does not exist: (.+)$/.exec(words) ?? [];
  if (path !== undefined) {
    return invalid("path_missing", `Cannot start this: there is no "${path}" on this machine; create it first`, {
      cause,
    });
  }
  // The engine names the source path on the host, which only its operator may see.
  const [, target] = /mounting ".*?" to rootfs at "(.*?)"/.exec(words) ?? [];
  if (target !== undefined) {
    const reason = "it cannot be mounted there. A file goes where the image has a file or nothing, a folder likewise";
    return invalid("mount_failed", `Cannot start this: check the mount at "${target}": ${reason}`, { cause });
  }
  const [, port] = /:(\d+)(?: failed: port is already allocated|: bind: address already in use)/.exec(words) ?? [];
  if (port !== undefined) {
    const message = `Cannot start this: another program on the machine uses port ${port}; stop that one, or publish another port`;
    return invalid("port_taken", message, { cause });
  }
  if (/pool overlaps/i.test(words)) {
    const message =
      "Cannot start this: one of its networks has an address range that another network of the machine uses; remove that network, or change the range";
    return invalid("network_overlaps", message, { cause });
  }
  const [, program, why] = /exec: "([^"]*)": (.*?)(?:: unknown)?$/.exec(words) ?? [];
  if (program !== undefined) {
    const shell = runs.command !== null && program === "/bin/sh";
    const hint = shell ? "; the image has no shell, so leave the start command empty" : "";
    return invalid("start_failed", `Cannot start this: its image cannot run ${program}: ${why}${hint}`, { cause });
  }
  if (error.status === 400) return invalid("start_failed", `Cannot start this: ${words.slice(0, LONGEST)}`, { cause });
  return engineRefused("start this", cause);
}
