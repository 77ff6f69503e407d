import type { ContainerEngine } from "../../ports/deployments/container_engine.ts";

/** A container engine that responds while `running` is set. */
export class MemoryContainerEngine implements ContainerEngine {
  running: boolean;

  constructor(running = true) {
    this.running = running;
  }

  async answers(): Promise<boolean> {
    return this.running;
  }
}
