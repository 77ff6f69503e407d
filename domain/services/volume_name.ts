/** Returns the name of an anonymous volume, or of one that an image declares: its service and mount target. */
export function unnamedVolume(service: string, target: string): string {
  return `${service}:${target}`;
}

/** Returns the name of the volume that replaces a path missing in the source; no service can have this name. */
export function sourceVolume(path: string): string {
  return `./${path}`;
}
