import {
  failedProbe,
  PROBE_PREFIX,
  isAbandonedProbe,
  probeKey,
  type ProbeOutcome,
  type ProbeStep,
} from "../../domain/backups/probe.ts";
import { Failure } from "../../domain/failure.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { ObjectStorage, StorageOptions, SweepOptions } from "../../ports/backups/object_storage.ts";
import type { OpenStorage } from "../../ports/backups/object_storages.ts";

/** Timeouts of a preflight. */
export interface ProbeLimits {
  /** All steps together. */
  readonly stepsMs: number;
  /** Sweeping abandoned writes, which is part of the steps. */
  readonly sweepMs: number;
  /** Removing the probe after a failed step. */
  readonly clearMs: number;
}

/** Keeps a preflight within 30 s, including the time to give up connections that hang. */
export const PROBE_LIMITS: ProbeLimits = { stepsMs: 20_000, sweepMs: 3_000, clearMs: 4_000 };

export interface RunProbePorts {
  readonly clock: Clock;
  readonly probeLimits?: ProbeLimits;
}

/** The store to probe. */
export interface ProbePlace {
  readonly open: (options: StorageOptions) => Promise<OpenStorage>;
  /** Keys of probes that earlier runs could not remove. */
  readonly leftProbes: readonly string[];
  /** After a successful probe, unfinished writes older than this are swept; `null` keeps them. */
  readonly abandonedBefore: Date | null;
}

/** The result of a probe. */
export interface ProbeReport {
  readonly outcome: ProbeOutcome;
  readonly hostKey: string | null;
  readonly leftProbes: readonly string[];
}

const PROBE_BYTES = 16 * 1024;
const MAX_LEFT = 10;
/** Failure codes of a write that leave it unknown whether the object was written. */
const UNCERTAIN = ["unreachable", "timeout"];

/**
 * Writes random bytes, reads them back, deletes them and checks that they are gone, all within the timeouts; then
 * removes probes that earlier runs left. Throws the reason of `signal` when the caller aborts.
 */
export function runProbe({ clock, probeLimits = PROBE_LIMITS }: RunProbePorts) {
  return async function (
    { open, leftProbes, abandonedBefore: before }: ProbePlace,
    signal?: AbortSignal,
  ): Promise<ProbeReport> {
    const key = probeKey(clock.now());
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(timedOut(probeLimits.stepsMs)), probeLimits.stepsMs);
    const within = AbortSignal.any([late.signal, ...(signal ? [signal] : [])]);
    const run = new ProbeRun(key, within);
    try {
      await using store = await open({ signal: within });
      const { hostKey } = store;
      await run.steps(store);
      await Promise.all([
        clearUp(store, { leftProbes, now: clock.now(), signal: within }),
        before && sweep(store, { before, signal: AbortSignal.any([within, AbortSignal.timeout(probeLimits.sweepMs)]) }),
      ]);
      return { outcome: { ok: true }, hostKey, leftProbes: [] };
    } catch (error) {
      const reason = within.aborted ? within.reason : error;
      const cleared = !run.mayHaveLeft(reason) || (await clearAnew(open, key));
      if (signal?.aborted || !isRemote(reason)) throw reason;
      const left = [...leftProbes, ...(cleared ? [] : [key])].slice(-MAX_LEFT);
      return { outcome: failedProbe(run.step, reason), hostKey: null, leftProbes: left };
    } finally {
      clearTimeout(timer);
    }
  };

  /** Removes a probe over a new connection, because the first one may have broken. */
  async function clearAnew(open: ProbePlace["open"], key: string): Promise<boolean> {
    const signal = AbortSignal.timeout(probeLimits.clearMs);
    try {
      await using store = await open({ signal });
      await removeProbe(store, key, signal);
      return true;
    } catch {
      return false;
    }
  }
}

/** The steps of one probe, and the step it has reached. */
class ProbeRun {
  readonly #key: string;
  readonly #signal: AbortSignal;
  step: ProbeStep = "write";
  #wrote = false;

  constructor(key: string, signal: AbortSignal) {
    this.#key = key;
    this.#signal = signal;
  }

  /** Returns whether the probe may have left an object behind when its steps ended with this reason. */
  mayHaveLeft(reason: unknown): boolean {
    if (!this.#wrote) return false;
    return this.step !== "write" || !(reason instanceof Failure) || UNCERTAIN.includes(reason.code);
  }

  async steps(store: ObjectStorage): Promise<void> {
    const options = { signal: this.#signal };
    const bytes = crypto.getRandomValues(new Uint8Array(PROBE_BYTES));
    this.#wrote = true;
    await store.put(this.#key, new Blob([bytes]).stream(), options);
    this.step = "read";
    const content = await store.get(this.#key, options);
    if (!content) throw corrupt("the written object is gone: check that nothing else removes it");
    if (!(await holds(content, bytes)))
      throw corrupt("the data read back differs from the data written: do not trust this store");
    this.step = "delete";
    await store.remove(this.#key, options);
    if (await store.stat(this.#key, options)) {
      throw new Failure("remote_failed", "permission_denied", "Cannot delete: the deleted object is still there");
    }
    this.#wrote = false;
  }
}

/** Returns whether a stream yields exactly these bytes; stops reading at the first difference. */
async function holds(content: ReadableStream<Uint8Array>, expected: Uint8Array): Promise<boolean> {
  let at = 0;
  for await (const chunk of content) {
    if (at + chunk.length > expected.length || chunk.some((byte, index) => byte !== expected[at + index])) return false;
    at += chunk.length;
  }
  return at === expected.length;
}

/** Sweeps abandoned writes as far as the timeout allows; those that the store denies access to stay. */
async function sweep(store: ObjectStorage, options: SweepOptions): Promise<void> {
  await store.sweep("", options).catch(() => {});
}

/** Removes leftover and abandoned probes, best effort: a store that does not allow listing keeps the latter. */
async function clearUp(
  store: ObjectStorage,
  {
    leftProbes,
    now,
    signal,
  }: { readonly leftProbes: readonly string[]; readonly now: Date; readonly signal: AbortSignal },
): Promise<void> {
  const [listed, unfinished] = await Promise.all([
    store.list(PROBE_PREFIX, { signal }).then(
      ({ objects }) => objects.map(({ key }) => key),
      () => [],
    ),
    store.unfinished(PROBE_PREFIX, { signal }).catch(() => []),
  ]);
  const abandoned = [...listed, ...unfinished].filter((key) => isAbandonedProbe(key, now));
  for (const key of new Set([...leftProbes, ...abandoned])) await removeProbe(store, key, signal).catch(() => {});
}

async function removeProbe(store: ObjectStorage, key: string, signal: AbortSignal): Promise<void> {
  await store.remove(key, { signal });
  await store.discard(key, { signal });
}

function isRemote(error: unknown): error is Failure {
  return error instanceof Failure && (error.kind === "remote_failed" || error.code === "host_key_changed");
}

function corrupt(why: string): Failure {
  return new Failure("remote_failed", "corrupt", `Cannot read the object: ${why}`);
}

function timedOut(ms: number): Failure {
  const why = `it did not finish within ${Math.max(1, Math.round(ms / 1_000))} s. Check the address, and that no firewall drops the connection`;
  return new Failure("remote_failed", "timeout", `Cannot complete this step: ${why}`);
}
