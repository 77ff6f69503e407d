/** Where an engine listens. */
export interface EngineAddress {
  readonly origin: URL;
  /** The path of its socket, if it does not listen on TCP. */
  readonly unix?: string;
}

/** Parses a `DOCKER_HOST` address: `unix://` with a path, `tcp://`, `http://` or `https://`. */
export function engineAddress(dockerHost: string): EngineAddress {
  if (dockerHost.startsWith("unix://")) return { origin: new URL("http://docker"), unix: dockerHost.slice(7) };
  return { origin: new URL(dockerHost.replace(/^tcp:/, "http:")) };
}
