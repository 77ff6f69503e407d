import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { processTable, treeOf } from "./process_table.ts";
import { droppingRights } from "./sandbox.ts";
import { SYSTEM_PATH } from "./choose_sandbox.ts";
import type { SystemUser } from "../../ports/system_user.ts";
import { unavailable } from "./unavailable.ts";

/** What belongs to one program. */
export interface Tree {
  /** Whether its launcher lives. */
  readonly isUp: () => boolean;
  /** The launcher, a session leader; `undefined` when it has ended, and in its first moment. */
  readonly launcher: () => number | undefined;
  /** Whether the launcher notes how the program ended, and gets the time to. */
  readonly launcherNotes: boolean;
  /** How far below it the program itself begins. */
  readonly depth: number;
  /** Its home, by which processes that left the session are known; `undefined` where the kernel ends them with the first one. */
  readonly strayHome: string | undefined;
  readonly user: SystemUser | undefined;
}

const PATIENCE_MS = 10_000;
const STEP_MS = 10;

/** Asks a program to end, then kills what is left of it, its children and theirs; resolves once nothing is. */
export async function endTree(tree: Tree, { graceMs }: { readonly graceMs: number }): Promise<void> {
  const graceEnds = Date.now() + graceMs;
  if (graceMs > 0) {
    members(tree)
      .filter(({ depth }) => depth >= tree.depth)
      .forEach(({ pid }) => send(pid, "SIGTERM"));
    while (Date.now() < graceEnds && tree.isUp()) await delay(STEP_MS);
  }
  await killTree(tree);
}

/** Kills a program with all it started, without asking. */
export async function killTree(tree: Tree): Promise<void> {
  const started = Date.now();
  for (;;) {
    const isUp = tree.isUp();
    const left = members(tree);
    const spared = tree.launcherNotes && Date.now() - started < 1_000 ? 1 : 0;
    const victims = left.filter(({ depth }) => depth >= spared);
    victims.forEach(({ pid }) => send(pid, "SIGKILL"));
    const strays = isUp ? [] : await strayProcesses(tree);
    strays.forEach((pid) => send(pid, "SIGKILL"));
    if (!isUp && strays.length === 0) return;
    if (Date.now() - started > PATIENCE_MS) {
      throw unavailable("process_stuck", "Cannot stop a program: the system does not end it; restart the machine");
    }
    await delay(STEP_MS);
  }
}

/** The living processes of the tree, and of its session. */
function members({ launcher, strayHome }: Tree): { pid: number; depth: number }[] {
  const root = launcher();
  if (root === undefined) return [];
  const table = processTable();
  const tree = treeOf(root, table);
  if (strayHome === undefined) return tree;
  const known = new Set(tree.map(({ pid }) => pid));
  const others = [...table.values()].filter(({ pid, session }) => session === root && !known.has(pid));
  return [...tree, ...others.map(({ pid }) => ({ pid, depth: Infinity }))];
}

/** Processes that left tree and session, known by the home they were given. */
async function strayProcesses({ strayHome, user }: Tree): Promise<number[]> {
  if (strayHome === undefined) return [];
  const files = [...processTable().keys()].map((pid) => `/proc/${pid}/environ`);
  // Root without CAP_SYS_PTRACE, as in most containers, may not look at another user's processes; that user may.
  if (!user) return files.filter((file) => hasHome(file, strayHome)).map(pidOf);
  const command = [...droppingRights({ user }), "grep", "-slzx", "-F", "-e", `HOME=${strayHome}`, ...files];
  const looking = Bun.spawn(command, { cwd: "/", env: SYSTEM_PATH, stdio: ["ignore", "pipe", "ignore"] });
  return (await looking.stdout.text()).split("\n").filter(Boolean).map(pidOf);
}

function hasHome(file: string, home: string): boolean {
  try {
    return readFileSync(file, "utf8").split("\0").includes(`HOME=${home}`);
  } catch {
    return false;
  }
}

function pidOf(file: string): number {
  return Number(file.split("/")[2]);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in the meantime, which is what was wanted.
  }
}
