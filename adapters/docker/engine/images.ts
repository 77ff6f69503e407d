/** An image as the engine reports it. */
export interface FoundImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  readonly RepoDigests?: readonly string[] | null;
  readonly Config?: { readonly ExposedPorts?: Readonly<Record<string, unknown>> | null } | null;
}

/** Returns all names of an image, by tag or by digest. */
export function namesOf({ RepoTags, RepoDigests }: FoundImage): string[] {
  return [...(RepoTags ?? []), ...(RepoDigests ?? [])].filter((name) => !name.startsWith("<none>"));
}

/** Returns the lowest TCP port that an image exposes. */
export function exposedPort({ Config }: FoundImage): number | null {
  const ports = Object.keys(Config?.ExposedPorts ?? {}).filter(
    (port) => !port.endsWith("/udp") && !port.endsWith("/sctp"),
  );
  return ports.length === 0 ? null : Math.min(...ports.map((port) => Number.parseInt(port, 10)));
}
