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

/** How long a preflight may take. */
export interface ProbeLimits {
  /** All steps together. */
  readonly stepsMs: number;
  /** Sweeping abandoned writes, which is part of the steps. */
  readonly sweepMs: number;
  /** Removing the probe after a failed step. */
  readonly clearMs: number;
}

/** Thirty seconds in all: connections that hang need some of it to be given up. */
export const PROBE_LIMITS: ProbeLimits = { stepsMs: 20_000, sweepMs: 3_000, clearMs: 4_000 };

export interface RunProbePorts {
  readonly clock: Clock;
  readonly probeLimits?: ProbeLimits;
}

/** What is tried. */
export interface ProbePlace {
  readonly open: (options: StorageOptions) => Promise<OpenStorage>;
  /** Keys of probes that earlier runs could not remove. */
  readonly leftProbes: readonly string[];
  /** After a successful probe, unfinished writes older than this are swept; `null` keeps them. */
  readonly abandonedBefore: Date | null;
}

/** What came of it. */
export interface ProbeReport {
  readonly outcome: ProbeOutcome;
  readonly hostKey: string | null;
  readonly leftProbes: readonly string[];
}

const PROBE_BYTES = 16 * 1024;
const MAX_LEFT = 10;
/** Failures of a write after which nobody knows what became of it. */
const UNCERTAIN = ["unreachable", "timeout"];

/**
 * Writes random bytes, reads them back, deletes them and looks whether they are gone, all within the limits; then removes what earlier runs left. The caller's
 * departure ends it with the reason of its signal.
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

  /** Removes a probe over a connection of its own: the one that was used may be what broke. */
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

/** The steps of one probe, and how far they came. */
class ProbeRun {
  readonly #key: string;
  readonly #signal: AbortSignal;
  step: ProbeStep = "write";
  #wrote = false;

  constructor(key: string, signal: AbortSignal) {
    this.#key = key;
    this.#signal = signal;
  }

  /** Whether something may be there to remove, after steps that ended like this. */
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
    if (!content) throw corrupt("what was written is not there any more: check that nothing else removes it");
    if (!(await holds(content, bytes)))
      throw corrupt("what came back is not what was written: do not trust this store");
    this.step = "delete";
    await store.remove(this.#key, options);
    if (await store.stat(this.#key, options)) {
      throw new Failure("remote_failed", "permission_denied", "Cannot delete: what was deleted is still there");
    }
    this.#wrote = false;
  }
}

/** Whether a stream gives exactly these bytes; it is read no further than it is right. */
async function holds(content: ReadableStream<Uint8Array>, expected: Uint8Array): Promise<boolean> {
  let at = 0;
  for await (const chunk of content) {
    if (at + chunk.length > expected.length || chunk.some((byte, index) => byte !== expected[at + index])) return false;
    at += chunk.length;
  }
  return at === expected.length;
}

/** Sweeps abandoned writes as far as the time allows; they stay where the store denies access to them. */
async function sweep(store: ObjectStorage, options: SweepOptions): Promise<void> {
  await store.sweep("", options).catch(() => {});
}

/** Removes probes that nobody uses any more; a store that does not allow to look for them keeps them. */
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
  const why = `no end after ${Math.max(1, Math.round(ms / 1_000))} s. Check the address, and that no firewall drops the connection`;
  return new Failure("remote_failed", "timeout", `Cannot complete this step: ${why}`);
}
