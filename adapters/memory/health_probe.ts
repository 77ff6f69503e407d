import type { HealthProbe, ProbeTarget } from "../../ports/health_probe.ts";

/** How a program behaves at its port: a status it answers with, or what it does instead of answering. */
export type ProbedBehaviour = number | "silent" | "talking" | "hanging_up" | "absent";

/** Answers for programs that exist in memory only: all are well but those of which something else is said. */
export class MemoryHealthProbe implements HealthProbe {
  /** By port. */
  readonly programs = new Map<number, ProbedBehaviour>();

  async answers({ port, path, relayed }: ProbeTarget): Promise<boolean> {
    const does = this.programs.get(port) ?? 200;
    if (does === "absent") return false;
    if (path !== null) return typeof does === "number" && does < 400;
    return !relayed || does !== "hanging_up";
  }
}
