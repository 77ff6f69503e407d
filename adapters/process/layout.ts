import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { SandboxDirs } from "./sandbox_dirs.ts";
import type { Surroundings } from "./sandbox.ts";

/** One thing that a sandboxed program sees, in the order in which it is put there. */
export type SandboxEntry =
  | { readonly kind: "readOnly" | "writable"; readonly source: string; readonly target: string }
  | { readonly kind: "link"; readonly source: string; readonly target: string }
  | { readonly kind: "hidden"; readonly target: string };

/** Where things are inside every sandbox, whatever they are called outside. */
const INSIDE = { release: "/app", home: "/home/app", temporary: "/tmp", programs: "/slipway/bin" } as const;

/** Programs and settings of the machine; neither its data nor anybody's home. */
const SYSTEM = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix", "sys"];

/** All that a program in this room sees of the machine, beside its own `/proc` and `/dev`. */
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

/** The folder inside a sandbox that a program of this room starts in. */
export function workingInside(dirs: SandboxDirs): string {
  return join(INSIDE.release, dirs.working);
}

/** Where a program of this room finds itself inside a sandbox. */
export function surroundingsInside(dirs: SandboxDirs): Surroundings {
  return { spawnFolder: "/", working: workingInside(dirs), home: INSIDE.home, programs: INSIDE.programs };
}

function systemEntries(path: string): SandboxEntry[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  if (found.isSymbolicLink()) return [{ kind: "link", source: readlinkSync(path), target: path }];
  return [{ kind: "readOnly", source: path, target: path }];
}

/** The file that names the resolvers, where it is a link to a place that is not shown. */
function resolverEntries(): SandboxEntry[] {
  try {
    const file = realpathSync("/etc/resolv.conf");
    return file.startsWith("/etc/") ? [] : [{ kind: "readOnly", source: file, target: file }];
  } catch {
    return [];
  }
}
