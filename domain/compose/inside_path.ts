import { normalPath } from "../services/normal_path.ts";

/**
 * Resolves a path relative to a folder of the source; `undefined` when it leaves the source or is not a relative path.
 */
export function insidePath(folder: string, written: string): string | undefined {
  if (written.startsWith("/") || written.startsWith("~") || /[\0\\]/.test(written)) return undefined;
  return normalPath(`${folder}/${written}`.replace(/^\//, ""));
}

/** The folder that contains a file; empty for the source root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
