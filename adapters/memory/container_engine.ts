import type { ContainerEngine } from "../../ports/deployments/container_engine.ts";

/** An engine that answers as long as it is told to. */
export class MemoryContainerEngine implements ContainerEngine {
  running: boolean;

  constructor(running = true) {
    this.running = running;
  }

  async answers(): Promise<boolean> {
    return this.running;
  }
}
