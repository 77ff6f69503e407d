import { isWithin } from "../is_within.ts";

/** Folders that belong to the system, including everything in them. */
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

/** Folders that may contain a backup folder, but cannot be one themselves. */
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

/** Returns whether a real path (symlinks resolved) belongs to the system, so that no backups may be written there. */
export function isSystemFolder(path: string): boolean {
  return SYSTEM_FOLDERS.includes(path) || SYSTEM_TREES.some((tree) => isWithin(tree, path));
}
