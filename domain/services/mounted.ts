/** The name of a volume that nobody named: that of a service, at a place. What an image declares as a volume is named so too. */
export function unnamedVolume(service: string, target: string): string {
  return `${service}:${target}`;
}

/** The name of the volume that stands in for a file or folder that the source does not have; no service can be called so. */
export function sourceVolume(path: string): string {
  return `./${path}`;
}
