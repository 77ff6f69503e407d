/** An image as the engine tells it. */
export interface FoundImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  readonly RepoDigests?: readonly string[] | null;
  readonly Config?: { readonly ExposedPorts?: Readonly<Record<string, unknown>> | null } | null;
}

/** Every name that an image has, by tag or by digest. */
export function namesOf({ RepoTags, RepoDigests }: FoundImage): string[] {
  return [...(RepoTags ?? []), ...(RepoDigests ?? [])].filter((name) => !name.startsWith("<none>"));
}

/** The lowest TCP port that an image says it listens on. */
export function exposedPort({ Config }: FoundImage): number | null {
  const ports = Object.keys(Config?.ExposedPorts ?? {}).filter(
    (port) => !port.endsWith("/udp") && !port.endsWith("/sctp"),
  );
  return ports.length === 0 ? null : Math.min(...ports.map((port) => Number.parseInt(port, 10)));
}
