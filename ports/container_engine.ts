/** The engine that runs containers for this service. */
export interface ContainerEngine {
  /** Whether the engine is there and answers now; never rejects. */
  answers(): Promise<boolean>;
}
