import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** A file of a site, open for reading. */
export interface StaticFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly size: number;
  /** When the file was put there; unlike its modification time, no archive can set it. */
  readonly changed: Date;
  readonly tag: string;
  readonly type: string;
  /** 404 for the site's own page about missing pages. */
  readonly status: 200 | 404;
}

/**
 * Opens what a site answers to a path: the file itself, `<path>.html`, `<path>/index.html`; else, for a page, `200.html`; else `404.html`.
 * Names that begin with a dot do not exist, except `.well-known`, nor does anything outside the folder.
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
    // A missing script or image must not be answered with a page.
    const page = !names.at(-1)?.includes(".") && (await openInside(root, "200.html", 200));
    if (page) return page;
  }
  return openInside(root, "404.html", 404);
}

/** The decoded names of a path; `undefined` if one of them cannot be a file's. */
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
    // The real path counts: a link may lead to another place in the folder, but not out of it nor to a hidden file.
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

/** Whether what was opened is what was looked at: a service that writes to the site may have put a link in the place of a folder meanwhile. Only Linux tells. */
async function isStillAt({ fd }: FileHandle, path: string): Promise<boolean> {
  return process.platform !== "linux" || (await readlink(`/proc/self/fd/${fd}`).catch(() => "")) === path;
}

const MISSING = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EISDIR", "ENXIO"]);
