import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** An open file of a static site. */
export interface StaticFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly size: number;
  /** The ctime: unlike the modification time, no archive can set it. */
  readonly changed: Date;
  readonly tag: string;
  readonly type: string;
  /** 404 for the site's own error page. */
  readonly status: 200 | 404;
}

/**
 * Opens the file that a site serves for a path: the file itself, `<path>.html`, `<path>/index.html`; else `200.html`
 * for a page; else `404.html`. Hidden names (dotfiles), except `.well-known`, and anything outside the folder do not
 * exist.
 */
export async function openStatic(folder: string, path: string): Promise<StaticFile | undefined> {
  const root = await realpath(folder);
  const names = segments(path);
  if (names) {
    const plain = names.join("/");
    const candidates = [`${plain}.html`, `${plain}/index.html`];
    if (plain === "") candidates.splice(0, 2, "index.html");
    else if (path.endsWith("/")) candidates.reverse();
    else candidates.unshift(plain);
    for (const candidate of candidates) {
      const file = await openInside(root, candidate, 200);
      if (file) return file;
    }
    // A missing script or image must not get a page as its response.
    const page = !names.at(-1)?.includes(".") && (await openInside(root, "200.html", 200));
    if (page) return page;
  }
  return openInside(root, "404.html", 404);
}

/** Decodes the segments of a path; `undefined` if one of them cannot be a public file name. */
function segments(path: string): string[] | undefined {
  try {
    const names = path
      .split("/")
      .filter((name) => name !== "")
      .map(decodeURIComponent);
    return names.every(isPublicName) ? names : undefined;
  } catch {
    return undefined;
  }
}

function isPublicName(name: string): boolean {
  return (!name.startsWith(".") || name === ".well-known") && !/[/\\\0]/.test(name) && Buffer.byteLength(name) < 256;
}

async function openInside(root: string, name: string, status: 200 | 404): Promise<StaticFile | undefined> {
  try {
    const path = await realpath(join(root, name));
    const inner = relative(root, path).split(sep);
    // Checks the real path: a symlink may lead elsewhere within the folder, but neither out of it nor to a hidden file.
    if (!inner.every(isPublicName) || !(await stat(path)).isFile()) return undefined;
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size, ctimeMs, ctime } = await handle.stat();
    if (!(await isStillAt(handle, path))) {
      await handle.close();
      return undefined;
    }
    return {
      handle,
      size,
      changed: ctime,
      tag: `"${size.toString(36)}-${Math.round(ctimeMs * 1000).toString(36)}"`,
      type: Bun.file(name).type,
      status,
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    if (error instanceof Error && "code" in error && MISSING.has(String(error.code))) return undefined;
    throw error;
  }
}

/**
 * Checks that the opened file is still at the checked path: a service that writes to the site may have replaced a
 * folder by a symlink meanwhile (TOCTOU). Only Linux can check this.
 */
async function isStillAt({ fd }: FileHandle, path: string): Promise<boolean> {
  return process.platform !== "linux" || (await readlink(`/proc/self/fd/${fd}`).catch(() => "")) === path;
}

const MISSING = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EISDIR", "ENXIO"]);
