import { normalPath } from "../services/normal_path.ts";

/**
 * Resolves a path relative to a folder of the source; `undefined` when it leaves the source or is not a relative path.
 * An absolute folder is one of a whole machine, where nothing is outside and absolute paths are as good as any.
 */
export function insidePath(folder: string, written: string): string | undefined {
  if (written.startsWith("~") || /[\0\\]/.test(written)) return undefined;
  const isMachine = folder.startsWith("/");
  if (written.startsWith("/")) return isMachine ? normalPath(written) : undefined;
  const path = `${folder}/${written}`;
  return normalPath(isMachine ? path : path.replace(/^\//, ""));
}

/** The folder that contains a file; empty for the source root, and `/` for that of a machine. */
export function folderOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end === 0 ? "/" : path.slice(0, Math.max(0, end));
}
