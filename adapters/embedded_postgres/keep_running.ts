import { setTimeout as delay } from "node:timers/promises";
import type { Postmaster } from "./postmaster.ts";

/** How to restart PostgreSQL after it exits. */
export interface KeepRunningOptions {
  readonly restart: () => Promise<Postmaster>;
  readonly onExit: (reason: string) => void;
}

const FIRST_DELAY = 20;
const LAST_DELAY = 5_000;
const STEADY_AFTER = 30_000;

/**
 * Restarts PostgreSQL whenever it exits, with exponential backoff while it keeps exiting; disposing stops it for good.
 */
export function keepRunning(first: Postmaster, { restart, onExit }: KeepRunningOptions): AsyncDisposable {
  const stopping = new AbortController();
  let current: Postmaster | undefined = first;
  let pause = FIRST_DELAY;

  async function attempt(): Promise<Postmaster | undefined> {
    await delay(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    pause = Math.min(pause * 2, LAST_DELAY);
    if (stopping.signal.aborted) return undefined;
    return restart().catch((error: Error) => {
      onExit(error.message);
      return undefined;
    });
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (!current) {
        current = await attempt();
        continue;
      }
      const since = Date.now();
      const reason = await current.ended;
      current = undefined;
      if (stopping.signal.aborted) return;
      if (Date.now() - since > STEADY_AFTER) pause = FIRST_DELAY;
      onExit(reason);
    }
  }

  const watching = watch();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await current?.stop();
      await watching;
      // A restart in progress when the stop came has assigned another one.
      await current?.stop();
    },
  };
}
