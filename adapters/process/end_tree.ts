import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { type Descendant, processTable, treeOf } from "./process_table.ts";
import { droppingRights } from "./sandbox.ts";
import { SYSTEM_PATH } from "./choose_sandbox.ts";
import type { SystemUser } from "../../ports/servers/system_user.ts";
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
const STEPS_A_LOOK = 5;
const SIGTERM_BIT = 1n << 14n;

/** Asks a program to end, then kills what is left of it, its children and theirs; resolves once nothing is. */
export async function endTree(tree: Tree, { graceMs }: { readonly graceMs: number }): Promise<void> {
  const graceEnds = Date.now() + graceMs;
  const told: SignalledProcesses = { toEnd: new Set(), toWait: new Set() };
  let isAsking = true;
  for (let step = 0; Date.now() < graceEnds && tree.isUp(); step++) {
    if (isAsking && step % STEPS_A_LOOK === 0) isAsking = !askToEnd(tree, told);
    await delay(STEP_MS);
  }
  await killTree(tree);
}

/** The processes that were asked to end, and those that wait for their children to. */
interface SignalledProcesses {
  readonly toEnd: Set<number>;
  readonly toWait: Set<number>;
}

/**
 * Asks each process of a program once; returns whether there is nobody left to ask. One that would end at once, such as a shell that waits for what it
 * has started, is not asked before its children have ended, which would lose the time that they are given; until then it is stopped, so that it
 * neither goes on with the next command nor tells how the last one ended.
 */
function askToEnd(tree: Tree, { toEnd, toWait }: SignalledProcesses): boolean {
  const own = members(tree).filter(({ depth }) => depth >= tree.depth);
  const parents = new Set(own.map(({ parent }) => parent));
  let isDone = own.length > 0;
  for (const { pid } of own) {
    if (toEnd.has(pid)) continue;
    if (parents.has(pid) && !handlesTermination(pid)) {
      if (!toWait.has(pid)) send(pid, "SIGSTOP");
      toWait.add(pid);
      isDone = false;
    } else {
      toEnd.add(pid);
      send(pid, "SIGTERM");
      if (toWait.has(pid)) send(pid, "SIGCONT");
    }
  }
  return isDone;
}

/** Whether a process does anything but end when it is asked to. */
function handlesTermination(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const masks = Array.from(status.matchAll(/^Sig(?:Cgt|Ign):\s*([0-9a-f]+)$/gm), ([, mask]) => BigInt(`0x${mask}`));
    return masks.some((mask) => (mask & SIGTERM_BIT) !== 0n);
  } catch {
    return true;
  }
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
function members({ launcher, strayHome }: Tree): Pick<Descendant, "depth" | "parent" | "pid">[] {
  const root = launcher();
  if (root === undefined) return [];
  const table = processTable();
  const tree = treeOf(root, table);
  if (strayHome === undefined) return tree;
  const known = new Set(tree.map(({ pid }) => pid));
  const others = [...table.values()].filter(({ pid, session }) => session === root && !known.has(pid));
  return [...tree, ...others.map(({ parent, pid }) => ({ parent, pid, depth: Infinity }))];
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
