/** Asks a freshly started program whether it is there. */
export interface HealthProbe {
  /** Whether it answers: a path with a status below 400, or without one any connection; never rejects. */
  answers(
    target: { readonly host: string; readonly port: number; readonly path: string | null },
    options: { readonly timeoutMs: number },
  ): Promise<boolean>;
}
