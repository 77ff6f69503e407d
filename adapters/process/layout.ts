import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { SandboxDirs } from "./sandbox_dirs.ts";
import type { Surroundings } from "./sandbox.ts";

/** One mount or symlink in a sandbox. Entries are applied in order. */
export type SandboxEntry =
  | { readonly kind: "readOnly" | "writable"; readonly source: string; readonly target: string }
  | { readonly kind: "link"; readonly source: string; readonly target: string }
  | { readonly kind: "hidden"; readonly target: string };

/** Paths inside every sandbox, whatever they are outside. */
const INSIDE = { release: "/app", home: "/home/app", temporary: "/tmp", programs: "/slipway/bin" } as const;

/** Programs and settings of the machine, without its data and home directories. */
const SYSTEM = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix", "sys"];

/** Returns everything that a sandboxed program sees of the machine, besides its own `/proc` and `/dev`. */
export function layoutOf(dirs: SandboxDirs): SandboxEntry[] {
  const bun = realpathSync(process.execPath);
  return [
    ...SYSTEM.flatMap((name) => systemEntries(`/${name}`)),
    ...resolverEntries(),
    ...(SYSTEM.some((name) => dirs.hidden.startsWith(`/${name}/`))
      ? [{ kind: "hidden", target: dirs.hidden } as const]
      : []),
    ...["bun", "bunx", "last/node"].map((name): SandboxEntry => ({
      kind: "readOnly",
      source: bun,
      target: join(INSIDE.programs, name),
    })),
    { kind: "writable", source: dirs.release, target: INSIDE.release },
    { kind: "writable", source: dirs.home, target: INSIDE.home },
    { kind: "writable", source: dirs.temporary, target: INSIDE.temporary },
    { kind: "writable", source: dirs.temporary, target: "/var/tmp" },
  ];
}

/** Returns the working directory of a program inside a sandbox. */
export function workingInside(dirs: SandboxDirs): string {
  return join(INSIDE.release, dirs.working);
}

/** Returns the paths that a program sees inside a sandbox. */
export function surroundingsInside(dirs: SandboxDirs): Surroundings {
  return { spawnFolder: "/", working: workingInside(dirs), home: INSIDE.home, programs: INSIDE.programs };
}

function systemEntries(path: string): SandboxEntry[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  if (found.isSymbolicLink()) return [{ kind: "link", source: readlinkSync(path), target: path }];
  return [{ kind: "readOnly", source: path, target: path }];
}

/** The target of /etc/resolv.conf, if that is a symlink to a path that is not mounted otherwise. */
function resolverEntries(): SandboxEntry[] {
  try {
    const file = realpathSync("/etc/resolv.conf");
    return file.startsWith("/etc/") ? [] : [{ kind: "readOnly", source: file, target: file }];
  } catch {
    return [];
  }
}
