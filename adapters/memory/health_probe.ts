import type { HealthProbe, ProbeResult, ProbeTarget } from "../../ports/deployments/health_probe.ts";

/** The behavior of a program at its port: the HTTP status it responds with, or what it does instead. */
export type ProbedBehaviour = number | "silent" | "talking" | "hanging_up" | "absent";

/** Health checks of simulated programs. All are healthy unless `programs` says otherwise. */
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
