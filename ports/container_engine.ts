/** The engine that runs containers for this service. */
export interface ContainerEngine {
  /** Whether the engine is there and answers, as of now or a moment ago; never rejects. */
  answers(): Promise<boolean>;
}
