import { normalPath } from "../services/normal_path.ts";

/** A path that is written relative to a folder, inside the source; `undefined` when it leads out of that or is no path of it. */
export function insidePath(folder: string, written: string): string | undefined {
  if (written.startsWith("/") || written.startsWith("~") || /[\0\\]/.test(written)) return undefined;
  return normalPath(`${folder}/${written}`.replace(/^\//, ""));
}

/** The folder that a file lies in; empty for the whole. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
