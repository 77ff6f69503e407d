import type { Certificate } from "../../domain/certificates/certificate.ts";

/**
 * Stores the certificates of host names, for the edges of all processes. A certificate belongs to the domain it was
 * issued for and goes with it: a name that another organization claims later starts without one.
 */
export interface Certificates {
  /** Lists every certificate, for edges. */
  list(): Promise<readonly Certificate[]>;
  find(hostname: string): Promise<Certificate | undefined>;
  /** Tells every process that the certificate of a host name may have changed. */
  announce(hostname: string): Promise<void>;
  /**
   * Calls the handler with a host name whenever its certificate may have changed, and with `null` when any may have.
   * Returns a function that unsubscribes. A handler that returns a promise is applying the change until that settles.
   */
  onChange(handler: (hostname: string | null) => unknown): () => void;
  /**
   * Resolves to `true` once every process has applied all announcements made before the call, and to `false` after
   * `limitMs`.
   */
  followed(limitMs: number): Promise<boolean>;
}
