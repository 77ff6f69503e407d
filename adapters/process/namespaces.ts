import { realpathSync, statSync } from "node:fs";
import { layoutOf, type SandboxEntry, surroundingsInside, workingInside } from "./layout.ts";
import { droppingRights, type Sandbox } from "./sandbox.ts";

/**
 * Assembles a root file system and stays as its first process. One `mount` mounts the whole fstab-like table, because
 * one process per mount would take most of the start time. Arguments: the new root, the working directory, the table,
 * files to create as mount points, `--`.
 */
const SCRIPT = `
set -eu
umask 022
root=$1 folder=$2 table=$3
shift 3
mount -t tmpfs -o mode=755,size=4m,nosuid,nodev slipway "$root"
while [ "$1" != -- ]; do
  if [ ! -d "$root\${1%/*}" ]; then mkdir -p "$root\${1%/*}"; fi
  : >"$root$1"
  shift
done
shift
printf %s "$table" >"$root.mounts"
mount --all --fstab "$root.mounts"
mount -o remount,ro "$root"
exec 4>&2 2>/dev/null
code=0
(exec chroot "$root" /bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$@" 2>&4 4>&-) || code=$?
exit "$code"
`;

/** The programs that this sandbox needs. Every common Linux distribution has them. */
export const NAMESPACE_PROGRAMS = ["unshare", "mount", "chroot", "setpriv"];

/** Ends with its parent, the launcher. */
const SEPARATE =
  "setpriv --pdeathsig=KILL -- unshare --mount --propagation private --pid --ipc --uts --fork --kill-child --".split(
    " ",
  );

/** Runs programs, as root, in kernel namespaces: as isolated as with bubblewrap, where that is not installed. */
export const namespaces: Sandbox = {
  kind: "namespaces",
  depth: 3,
  endsWhole: true,
  surroundings: surroundingsInside,
  command: (dirs, command) => {
    const layout = layoutOf(dirs);
    const files = layout.filter((entry) => entry.kind === "readOnly" && !statSync(entry.source).isDirectory());
    return [
      ...SEPARATE,
      "/bin/sh",
      "-c",
      SCRIPT,
      "sandbox",
      dirs.root,
      workingInside(dirs),
      [...layout.map((entry) => mountLine(entry, dirs.root)), ...ownMounts(dirs.root)].join(""),
      ...files.map(({ target }) => target),
      "--",
      ...droppingRights(dirs),
      ...command,
    ];
  },
};

/** Returns the mount table line of one layout entry. */
function mountLine(entry: SandboxEntry, root: string): string {
  const target = root + entry.target;
  if (entry.kind === "hidden") return tableLine("slipway", target, "tmpfs", "mode=755,size=4k");
  // Mounts the target of a symlink in its place.
  const source = entry.kind === "link" ? realpathSync(entry.target) : entry.source;
  const access = entry.kind === "writable" ? "rw" : "ro";
  const made = statSync(source).isDirectory() ? ",X-mount.mkdir" : "";
  return tableLine(source, target, "none", `rbind,nosuid,${access}${made}`);
}

function ownMounts(root: string): string[] {
  return [
    tableLine("proc", `${root}/proc`, "proc", "nosuid,nodev,noexec,X-mount.mkdir"),
    tableLine("/dev", `${root}/dev`, "none", "rbind,nosuid,X-mount.mkdir"),
    tableLine("slipway", `${root}/dev/shm`, "tmpfs", "mode=1777,nosuid,nodev"),
  ];
}

function tableLine(...fields: readonly [source: string, target: string, type: string, options: string]): string {
  // Escapes separators as octal, as in fstab(5).
  const written = fields.map((field) =>
    field.replaceAll(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`),
  );
  return `${written.join(" ")} 0 0\n`;
}
