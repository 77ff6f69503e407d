import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";

const FOLDER = new URL("../../../.tools/bin", import.meta.url).pathname;
/** Debian's path of the client, which another one may shadow in PATH. */
const PLACES = ["/usr/bin/docker"];
/** The first version that needs a plugin to build with BuildKit. */
const NEEDS_PLUGIN = 23;

/**
 * Puts a `docker` client that builds with BuildKit first in the PATH of this process and its children. Returns `false`
 * if there is none.
 */
export async function useDockerProgram(): Promise<boolean> {
  const candidates = [Bun.which("docker"), ...PLACES].filter((path) => path !== null);
  for (const program of new Set(candidates)) {
    if (!(await buildsWithBuildKit(program))) continue;
    if (program !== Bun.which("docker")) await putFirst(program);
    return true;
  }
  return false;
}

async function buildsWithBuildKit(program: string): Promise<boolean> {
  const client = await run([program, "--version"]);
  const major = Number(/version (\d+)/.exec(client.output)?.[1] ?? Number.NaN);
  if (client.ok && major < NEEDS_PLUGIN) return true;
  return (await run([program, "buildx", "version"])).ok;
}

async function putFirst(program: string): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await rm(join(FOLDER, "docker"), { force: true });
  await symlink(program, join(FOLDER, "docker"));
  process.env["PATH"] = `${FOLDER}:${process.env["PATH"]}`;
}
