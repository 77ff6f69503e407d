/**
 * A path without `.`, `..` and doubled or trailing `/`: an absolute one stays absolute, of a relative one the folder itself is the empty text.
 * `undefined` for a relative path that leads out of where it starts.
 */
export function normalPath(path: string): string | undefined {
  const absolute = path.startsWith("/");
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined && !absolute) return undefined;
  }
  return (absolute ? "/" : "") + parts.join("/");
}
