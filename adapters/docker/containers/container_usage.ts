import { setTimeout as delay } from "node:timers/promises";
import type { InstanceUsage } from "../../../ports/services/runtime.ts";
import type { ContainerRecord } from "../engine/containers.ts";
import { isUp } from "./container_state.ts";
import type { EngineApi } from "../engine/engine_api.ts";

interface Stats {
  readonly read: string;
  readonly cpu_stats: { readonly cpu_usage: { readonly total_usage: number } };
  readonly memory_stats: {
    readonly usage?: number;
    readonly stats?: { readonly total_inactive_file?: number; readonly inactive_file?: number };
  };
  readonly networks?: Readonly<Record<string, { readonly rx_bytes: number; readonly tx_bytes: number }>>;
}

interface Sample {
  readonly startedAt: string;
  readonly at: number;
  readonly cpuNs: number;
}

const FRESH_MS = 3_000;
const SHORTEST_MS = 500;
const WAIT_MS = 250;

/** Measures the resource usage of containers; 100 percent is one processor. */
export class ContainerUsage {
  readonly #engine: EngineApi;
  readonly #samples = new Map<string, Sample>();

  constructor(engine: EngineApi) {
    this.#engine = engine;
  }

  /**
   * Averages CPU usage since the previous call if that was 0.5 to 3 s ago, else over 250 ms. Returns `undefined` if the
   * container is gone.
   */
  async measure(record: ContainerRecord): Promise<InstanceUsage | undefined> {
    const memoryLimitBytes = record.HostConfig.Memory || null;
    if (!isUp(record)) {
      return { cpuPercent: 0, memoryBytes: 0, memoryLimitBytes, networkRxBytes: null, networkTxBytes: null };
    }
    const { StartedAt } = record.State;
    const known = this.#samples.get(record.Id);
    const age = known ? Date.now() - known.at : Infinity;
    const usable = known?.startedAt === StartedAt && age >= SHORTEST_MS && age <= FRESH_MS;
    const before = usable ? known : sampleOf(await this.#stats(record.Id), StartedAt);
    if (!usable) await delay(WAIT_MS);
    const stats = await this.#stats(record.Id);
    const after = sampleOf(stats, StartedAt);
    if (!stats || !before || !after) return undefined;
    this.#forgetOld();
    this.#samples.set(record.Id, after);
    const networks = Object.values(stats.networks ?? {});
    return {
      cpuPercent: percentBetween(before, after),
      memoryBytes: memoryOf(stats),
      memoryLimitBytes,
      networkRxBytes: networks.reduce((sum, { rx_bytes }) => sum + rx_bytes, 0),
      networkTxBytes: networks.reduce((sum, { tx_bytes }) => sum + tx_bytes, 0),
    };
  }

  /** How many containers it has samples of: only those measured in the last seconds, which may be gone since. */
  get sampled(): number {
    return this.#samples.size;
  }

  #forgetOld(): void {
    const oldest = Date.now() - FRESH_MS;
    for (const [id, { at }] of this.#samples) if (at < oldest) this.#samples.delete(id);
  }

  #stats(containerId: string): Promise<Stats | undefined> {
    const query = { stream: false, "one-shot": true };
    return this.#engine.known<Stats>("GET", `/containers/${containerId}/stats`, { query });
  }
}

function sampleOf(stats: Stats | undefined, startedAt: string): Sample | undefined {
  return stats && { startedAt, at: Date.parse(stats.read), cpuNs: stats.cpu_stats.cpu_usage.total_usage };
}

function percentBetween(before: Sample, after: Sample): number {
  const percent = ((after.cpuNs - before.cpuNs) / 1e6 / Math.max(1, after.at - before.at)) * 100;
  return Math.max(0, Math.round(percent * 10) / 10);
}

/** Excludes the page cache that the kernel reclaims when memory is needed, which cgroup v1 and v2 name differently. */
function memoryOf({ memory_stats: { usage = 0, stats } }: Stats): number {
  return Math.max(0, usage - (stats?.total_inactive_file ?? stats?.inactive_file ?? 0));
}
