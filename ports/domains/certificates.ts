import type { Certificate } from "../../domain/certificates/certificate.ts";

/**
 * The certificates of host names, for the edges of all processes. `CertificateOrders` stores them. A certificate belongs
 * to the domain it was issued for and goes with it: a name that another organization claims later starts without one.
 */
export interface Certificates {
  /** Lists every certificate, by host name. */
  list(): Promise<readonly Certificate[]>;
  find(hostname: string): Promise<Certificate | undefined>;
  /**
   * Calls the handler with a host name whenever its certificate, or the proof of its order, may have changed, and with
   * `null` when any may have. Returns a function that unsubscribes. A handler that returns a promise is applying the
   * change until that settles.
   */
  onChange(handler: (hostname: string | null) => unknown): () => void;
  /**
   * Resolves to `true` once every process has applied all changes stored before the call, and to `false` after
   * `limitMs`.
   */
  followed(limitMs: number): Promise<boolean>;
}
