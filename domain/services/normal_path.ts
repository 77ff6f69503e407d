/**
 * Normalizes a path: no `.`, `..`, repeated or trailing `/`. An absolute path stays absolute; a relative path to the
 * folder itself becomes the empty string. `undefined` for a relative path that leads outside its base folder.
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
