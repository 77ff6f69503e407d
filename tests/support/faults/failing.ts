import { intercepted } from "./intercepted.ts";

/** A port like the given one, one of whose methods fails the first `times` (all, unless told) times it is called. */
export function failing<Port extends object>(
  port: Port,
  method: keyof Port,
  { times = Number.POSITIVE_INFINITY, error = new Error("Broken on purpose") }: { times?: number; error?: Error } = {},
): Port {
  let left = times;
  return intercepted(port, method, (goOn) => (left-- > 0 ? Promise.reject(error) : goOn()));
}
