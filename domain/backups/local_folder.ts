/** Folders that belong to the system with everything in them. */
const SYSTEM_TREES = [
  "/bin",
  "/boot",
  "/dev",
  "/etc",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/proc",
  "/run",
  "/sbin",
  "/sys",
  "/usr",
  "/var/run",
];

/** Folders that may hold a folder for backups, but are none themselves. */
const SYSTEM_FOLDERS = [
  "/",
  "/home",
  "/media",
  "/mnt",
  "/opt",
  "/root",
  "/srv",
  "/tmp",
  "/var",
  "/var/cache",
  "/var/lib",
  "/var/log",
  "/var/spool",
  "/var/tmp",
];

/** Whether a real path is the system's own, and so no place for backups. */
export function isSystemFolder(path: string): boolean {
  return SYSTEM_FOLDERS.includes(path) || SYSTEM_TREES.some((tree) => isWithin(tree, path));
}

/** Whether a path is a folder or lies in it; both absolute, without `.`, `..` and a slash at the end. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
