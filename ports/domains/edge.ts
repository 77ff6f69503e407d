import type { Secret } from "../../domain/secret.ts";

/** Routes requests for a host and path prefix to a target. */
export interface EdgeRoute {
  readonly hostname: string;
  readonly pathPrefix: string;
  /** The key that routes are replaced by: the id of the project, or of the deployment for a preview. */
  readonly projectId: string;
  /** The key of the upstream, by which requests in flight are counted. */
  readonly servedBy: string;
  readonly target:
    | { readonly kind: "address"; readonly host: string; readonly port: number }
    | { readonly kind: "folder"; readonly path: string }
    /** The edge itself answers with a text, over plain HTTP too: a proof for a certificate authority. */
    | { readonly kind: "text"; readonly text: string }
    /** Known host without a release yet: visitors get a page that says so. */
    | { readonly kind: "none" }
    /** Live release whose instance is not back up yet: visitors are asked to retry in a moment. */
    | { readonly kind: "starting" };
}

/** What the edge presents to visitors of a host over TLS, in PEM format. */
export interface EdgeCertificate {
  readonly hostname: string;
  /** The certificate of the host, followed by those of the authorities up to the root. */
  readonly chain: string;
  readonly key: Secret;
}

/** The reverse proxy that serves deployed applications. */
export interface Edge {
  /** Replaces all routes of a project atomically. Every request that arrives after this resolves uses the new ones. */
  switch(projectId: string, routes: readonly EdgeRoute[]): Promise<void>;
  /**
   * Replaces the certificate of a host, or removes it with `null`. Every handshake that begins after this resolves uses
   * it; open connections go on. A host without a certificate gets one that no browser trusts. Rejects with a `Failure`
   * if the certificate or its key is unusable; the former one stays.
   */
  present(hostname: string, certificate: EdgeCertificate | null): Promise<void>;
  /** Drains an upstream: resolves once no request to `servedBy` is in flight, or after `limitMs`. */
  drained(servedBy: string, limitMs: number): Promise<void>;
}
