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
    /** Known host without a release yet: visitors get a page that says so. */
    | { readonly kind: "none" }
    /** Live release whose instance is not back up yet: visitors are asked to retry in a moment. */
    | { readonly kind: "starting" };
}

/** The reverse proxy that serves deployed applications. */
export interface Edge {
  /** Replaces all routes of a project atomically. Every request that arrives after this resolves uses the new ones. */
  switch(projectId: string, routes: readonly EdgeRoute[]): Promise<void>;
  /** Drains an upstream: resolves once no request to `servedBy` is in flight, or after `limitMs`. */
  drained(servedBy: string, limitMs: number): Promise<void>;
}
