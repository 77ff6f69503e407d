/** The name of a volume that nobody named: that of a service, at a place. */
export function unnamedVolume(service: string, target: string): string {
  return `${service}${plain(target)}`;
}

/** The name of the volume that stands in for a file or folder that the source does not have. */
export function sourceVolume(path: string): string {
  return `source${plain(`/${path}`)}`;
}

/** Names of volumes are letters, digits and some signs; two places never get the same. */
function plain(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9.-]/g, (sign) => (sign === "/" ? "_" : `_${sign.codePointAt(0)!.toString(16)}_`));
}
