/** Where requests for a host and path prefix go. */
export interface EdgeRoute {
  readonly hostname: string;
  readonly pathPrefix: string;
  /** What the route is replaced with: its project, or its deployment for a preview. */
  readonly projectId: string;
  /** What answers there: requests that run are counted by it. */
  readonly servedBy: string;
  readonly target:
    | { readonly kind: "address"; readonly host: string; readonly port: number }
    | { readonly kind: "folder"; readonly path: string }
    /** Known, but nothing is released there yet: visitors are told so. */
    | { readonly kind: "none" }
    /** Live, but what runs it is not back yet: visitors are asked to come again in a moment. */
    | { readonly kind: "starting" };
}

/** Serves deployed applications to the world. */
export interface Edge {
  /** Replaces all routes of a project at once: every request that arrives after this resolves goes by the new ones. */
  switch(projectId: string, routes: readonly EdgeRoute[]): Promise<void>;
  /** Resolves once no request to what is served by this is running any more, or after `limitMs`. */
  drained(servedBy: string, limitMs: number): Promise<void>;
}
