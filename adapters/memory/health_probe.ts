import type { HealthProbe, ProbeResult, ProbeTarget } from "../../ports/deployments/health_probe.ts";

/** How a program behaves at its port: a status it answers with, or what it does instead of answering. */
export type ProbedBehaviour = number | "silent" | "talking" | "hanging_up" | "absent";

/** Answers for programs that exist in memory only: all are well but those of which something else is said. */
export class MemoryHealthProbe implements HealthProbe {
  /** By port. */
  readonly programs = new Map<number, ProbedBehaviour>();

  async check({ port, path, relayed }: ProbeTarget): Promise<ProbeResult> {
    const does = this.programs.get(port) ?? 200;
    const status = path !== null && typeof does === "number" ? does : null;
    if (path !== null) return { isHealthy: status !== null && status < 400, status };
    return { isHealthy: does !== "absent" && (!relayed || does !== "hanging_up"), status };
  }
}
