import { INSIDE, layoutOf, workingInside } from "./layout.ts";
import { droppingRights, type Sandbox } from "./sandbox.ts";

/** Puts a root together from its arguments and stays as its first process; nothing in it depends on input but by position. */
const SCRIPT = `
set -eu
umask 022
root=$1 folder=$2
shift 2
mount -t tmpfs -o mode=755,size=4m,nosuid,nodev slipway "$root"
while [ "$1" != -- ]; do
  target=$root$3
  mkdir -p "\${target%/*}"
  case $1 in
    link) ln -s "$2" "$target" ;;
    hidden) mount -t tmpfs -o mode=755,size=4k slipway "$target" ;;
    *)
      if [ -d "$2" ]; then mkdir -p "$target"; else : >"$target"; fi
      if [ "$1" = writable ]; then access=rw; else access=ro; fi
      mount -o "rbind,nosuid,$access" "$2" "$target"
      ;;
  esac
  shift 3
done
shift
mkdir "$root/proc" "$root/dev"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount --rbind /dev "$root/dev"
if [ -d "$root/dev/shm" ]; then mount -t tmpfs -o mode=1777,nosuid,nodev slipway "$root/dev/shm"; fi
mount -o remount,ro "$root"
exec 4>&2 2>/dev/null
code=0
(exec chroot "$root" /bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$@" 2>&4 4>&-) || code=$?
exit "$code"
`;

/** The programs that this sandbox is made with; they come with every common Linux. */
export const NAMESPACE_PROGRAMS = ["unshare", "mount", "chroot", "setpriv"];

/** With its parent, the launcher, it goes too. */
const SEPARATE =
  "setpriv --pdeathsig=KILL -- unshare --mount --propagation private --pid --ipc --uts --fork --kill-child --".split(
    " ",
  );

/** Runs programs, as root, in namespaces of the kernel: the same as under bubblewrap, where that is not installed. */
export const namespaces: Sandbox = {
  kind: "namespaces",
  depth: 3,
  endsWhole: true,
  surroundings: (room) => ({
    spawnFolder: "/",
    working: workingInside(room),
    home: INSIDE.home,
    programs: INSIDE.programs,
  }),
  command: (room, command) => [
    ...SEPARATE,
    "/bin/sh",
    "-c",
    SCRIPT,
    "sandbox",
    room.root,
    workingInside(room),
    ...layoutOf(room).flatMap((sight) =>
      sight.kind === "hidden" ? ["hidden", "-", sight.target] : [sight.kind, sight.source, sight.target],
    ),
    "--",
    ...droppingRights(room),
    ...command,
  ],
};
