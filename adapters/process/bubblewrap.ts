import { layoutOf, type SandboxEntry, surroundingsInside, workingInside } from "./layout.ts";
import { droppingRights, type Sandbox } from "./sandbox.ts";

const OPTION: Readonly<Record<SandboxEntry["kind"], string>> = {
  readOnly: "--ro-bind",
  writable: "--bind",
  link: "--symlink",
  hidden: "--tmpfs",
};

/** `--die-with-parent` refers to the launcher, not to the server: the program outlives the server. */
const SEPARATE = ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];
const CHANGING_USER = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];
const OWN_DEVICES = ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/"];

/** Runs programs in a bubblewrap sandbox with their own root file system and PID namespace. */
export function bubblewrap(program: string): Sandbox {
  return {
    kind: "bubblewrap",
    depth: 3,
    endsWhole: true,
    surroundings: surroundingsInside,
    command: (dirs, command) => [
      program,
      ...SEPARATE,
      ...(dirs.user ? CHANGING_USER : ["--unshare-user"]),
      ...layoutOf(dirs).flatMap(optionsFor),
      ...OWN_DEVICES,
      "--chdir",
      workingInside(dirs),
      "--",
      ...droppingRights(dirs),
      ...command,
    ],
  };
}

function optionsFor(entry: SandboxEntry): string[] {
  if (entry.kind === "hidden") return [OPTION.hidden, entry.target];
  const names = entry.target.split("/").slice(1, -1);
  // Without `--dir`, bubblewrap would create parent directories that only root can enter.
  const above = names.flatMap((_, index) => ["--dir", `/${names.slice(0, index + 1).join("/")}`]);
  return [...above, OPTION[entry.kind], entry.source, entry.target];
}
