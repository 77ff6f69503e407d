import { loggedError } from "../../domain/logged_error.ts";
import type { GitHostSettings } from "./git_host_settings.ts";
import { checkDeviceLogins, type DeviceLoginPorts } from "./device_logins.ts";

const CHECK_MS = 1_000;
/** Longer than any code of a git host is valid. */
const WATCHED_MS = 1_800_000;

/**
 * Checks the logins on other devices for as long as one may be pending: after the start of the server, which may have been
 * killed meanwhile, and after each that began here.
 */
export function watchDeviceLogins(ports: DeviceLoginPorts & { readonly gitHost: GitHostSettings }) {
  const check = checkDeviceLogins(ports);
  // Where users log in otherwise there are none, and an idle server asks for nothing.
  const { oauth } = ports.gitHost;
  let watchedUntil = performance.now() + (oauth && !oauth.hasSecret ? WATCHED_MS : 0);
  let begun = Promise.withResolvers<void>();
  return {
    /** Called when a login has begun. */
    started(): void {
      watchedUntil = performance.now() + WATCHED_MS;
      begun.resolve();
      begun = Promise.withResolvers();
    },

    /** Runs until the signal aborts. Never rejects. */
    async run(signal: AbortSignal): Promise<void> {
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      while (!signal.aborted) {
        if (performance.now() >= watchedUntil) await Promise.race([begun.promise, stopped]);
        const { promise: paused, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, CHECK_MS);
        await Promise.race([paused, stopped]);
        clearTimeout(timer);
        if (signal.aborted) return;
        await check(signal).catch((error: unknown) => {
          if (!signal.aborted)
            ports.log.write("debug", "Logins on other devices were not checked", { ...loggedError(error) });
        });
      }
    },
  };
}
