import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../../domain/failure.ts";
import type { Log } from "../../../ports/system/log.ts";

/** How to wait for a port. */
export interface WaitOptions {
  readonly log: Log | undefined;
  readonly everyMs: number;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
}

/**
 * Opens a TLS port. If another program uses it, apps are served without TLS: that is logged once, and tried again in the
 * background until it succeeds. Resolves after the first attempt.
 */
export async function openWhenFree(open: () => Promise<void>, { log, everyMs, signal }: WaitOptions): Promise<void> {
  const reason = await refusal(open);
  if (reason === undefined) return;
  log?.write("warn", "Apps are served without TLS until its port is free", { reason });
  void tryAgain();

  async function tryAgain(): Promise<void> {
    do await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
    while (!signal.aborted && (await refusal(open)) !== undefined);
    if (!signal.aborted) log?.write("info", "Apps are served over TLS now");
  }
}

/** Returns why a port cannot be opened; `undefined` if it was. */
async function refusal(open: () => Promise<void>): Promise<string | undefined> {
  try {
    await open();
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.message;
  }
}
