import { intercepted } from "./intercepted.ts";

/** Returns a copy of a port, one method of which rejects its first `times` calls; by default, all calls. */
export function failing<Port extends object>(
  port: Port,
  method: keyof Port,
  { times = Number.POSITIVE_INFINITY, error = new Error("Broken on purpose") }: { times?: number; error?: Error } = {},
): Port {
  let left = times;
  return intercepted(port, method, (proceed) => (left-- > 0 ? Promise.reject(error) : proceed()));
}
