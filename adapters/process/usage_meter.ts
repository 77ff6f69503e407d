import { setTimeout as delay } from "node:timers/promises";
import { processTable, treeOf } from "./process_table.ts";

/** Resource usage of a process tree. */
export interface TreeUsage {
  readonly cpuPercent: number;
  readonly memoryBytes: number;
}

interface Sample {
  readonly launcher: number;
  readonly at: number;
  readonly ticks: number;
}

const FRESH_MS = 3_000;
const SHORTEST_MS = 500;
const WAIT_MS = 250;

/** Measures the usage of process trees. 100 percent is one CPU. */
export class UsageMeter {
  readonly #samples = new Map<string, Sample>();

  /**
   * Returns the CPU usage since the last call if that was 0.5 to 3 seconds ago, otherwise over a quarter of a second.
   */
  async measure(key: string, launcher: number): Promise<TreeUsage> {
    const known = this.#samples.get(key);
    const age = known ? Date.now() - known.at : Infinity;
    const usable = known?.launcher === launcher && age >= SHORTEST_MS && age <= FRESH_MS;
    const from = usable ? known : sample(launcher).sample;
    if (!usable) await delay(WAIT_MS);
    const { sample: to, memoryBytes } = sample(launcher);
    this.#samples.set(key, to);
    const percent = ((to.ticks - from!.ticks) * 1_000) / Math.max(1, to.at - from!.at);
    return { cpuPercent: Math.max(0, Math.round(percent * 10) / 10), memoryBytes };
  }

  forget(key: string): void {
    this.#samples.delete(key);
  }
}

function sample(launcher: number): { sample: Sample; memoryBytes: number } {
  const tree = treeOf(launcher, processTable());
  const sum = (of: (entry: (typeof tree)[number]) => number) => tree.reduce((total, entry) => total + of(entry), 0);
  return {
    sample: { launcher, at: Date.now(), ticks: sum(({ ticks }) => ticks) },
    memoryBytes: sum(({ memoryBytes }) => memoryBytes),
  };
}
