import { invalid } from "../../../domain/failure.ts";
import type { Runtime } from "../../../ports/services/runtime.ts";
import { eventually } from "../eventually.ts";
import { intercepted } from "./intercepted.ts";

/** A runtime whose instances stop only when a test allows it. */
export interface GatedRuntime {
  readonly runtime: Runtime;
  /** The instances that are stopping, once per pending call. */
  readonly stopping: string[];
  /** Instances whose stop fails with `process_stuck`. */
  readonly stuck: Set<string>;
  /** Resolves once `count` stop calls are pending at the same time. */
  stoppingAtOnce(count: number): Promise<void>;
  /** Lets all instances stop from now on. */
  open(): void;
}

/** Gates one of the methods that stop instances. */
export function gatedRuntime(runtime: Runtime, method: "remove" | "restart"): GatedRuntime {
  const gate = Promise.withResolvers<void>();
  const stopping: string[] = [];
  const stuck = new Set<string>();
  return {
    runtime: intercepted(runtime, method, async (proceed, [instanceId]) => {
      stopping.push(instanceId as string);
      await gate.promise;
      stopping.splice(stopping.indexOf(instanceId as string), 1);
      if (stuck.has(instanceId as string)) throw invalid("process_stuck", "Cannot stop a program");
      return proceed();
    }),
    stopping,
    stuck,
    async stoppingAtOnce(count) {
      await eventually(
        async () => stopping.length,
        (now) => now === count,
      );
    },
    open: () => gate.resolve(),
  };
}
