import type { HealthProbe } from "../../ports/health_probe.ts";

/** Answers for programs that exist in memory only: all are well but those at these ports. */
export class MemoryHealthProbe implements HealthProbe {
  readonly silentPorts = new Set<number>();

  async answers({ port }: { readonly port: number }): Promise<boolean> {
    return !this.silentPorts.has(port);
  }
}
