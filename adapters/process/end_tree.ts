import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { type Descendant, processEntry, processTable, treeOf } from "./process_table.ts";
import { droppingRights } from "./sandbox.ts";
import { SYSTEM_PATH } from "./choose_sandbox.ts";
import type { SystemUser } from "../../ports/servers/system_user.ts";
import { unavailable } from "./unavailable.ts";

/** The process tree of one program. */
export interface Tree {
  /** Whether its launcher is alive. */
  readonly isUp: () => boolean;
  /** The pid of the launcher, a session leader. `undefined` once it has ended, and briefly at its start. */
  readonly launcher: () => number | undefined;
  /** Whether the launcher records the program's exit code, and gets time to do so. */
  readonly launcherNotes: boolean;
  /** How many levels below the launcher the program itself begins. */
  readonly depth: number;
  /**
   * The program's HOME, which identifies processes that left the session. `undefined` where the kernel kills them with
   * the first process.
   */
  readonly strayHome: string | undefined;
  readonly user: SystemUser | undefined;
}

const PATIENCE_MS = 10_000;
const STEP_MS = 10;
const STEPS_A_LOOK = 5;
const SIGTERM_BIT = 1n << 14n;

/**
 * Sends SIGTERM to a program, and SIGKILL to the rest of its process tree after the grace period. Resolves once no
 * process is left.
 */
export async function endTree(tree: Tree, { graceMs }: { readonly graceMs: number }): Promise<void> {
  const graceEnds = Date.now() + graceMs;
  const signalled: SignalledProcesses = { toEnd: new Set(), toWait: new Set() };
  let isAsking = true;
  for (let step = 0; Date.now() < graceEnds && tree.isUp(); step++) {
    if (isAsking && step % STEPS_A_LOOK === 0) isAsking = !askToEnd(tree, signalled);
    await delay(STEP_MS);
  }
  await killTree(tree);
}

/** The processes that were sent SIGTERM, and those stopped until their children have ended. */
interface SignalledProcesses {
  readonly toEnd: Set<number>;
  readonly toWait: Set<number>;
}

/**
 * Sends SIGTERM to each process of a program once. Returns whether no process is left to signal. A parent that would
 * end at once, such as a shell that waits for its children, gets it only after they have ended, because they would lose
 * their grace period otherwise. Until then it is stopped (SIGSTOP), so that it neither continues with the next command
 * nor reports the exit of the last one.
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

/** Returns whether a process catches or ignores SIGTERM. */
function handlesTermination(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const masks = Array.from(status.matchAll(/^Sig(?:Cgt|Ign):\s*([0-9a-f]+)$/gm), ([, mask]) => BigInt(`0x${mask}`));
    return masks.some((mask) => (mask & SIGTERM_BIT) !== 0n);
  } catch {
    return true;
  }
}

/**
 * Kills a program and its process tree with SIGKILL. Throws `process_stuck` when a process does not end within 10 s.
 */
export async function killTree(tree: Tree): Promise<void> {
  const started = Date.now();
  const seen = new Map<number, number>();
  for (;;) {
    const isUp = tree.isUp();
    const left = members(tree);
    for (const { pid, startTicks } of left) seen.set(pid, startTicks);
    const spared = tree.launcherNotes && Date.now() - started < 1_000 ? 1 : 0;
    const victims = left.filter(({ depth }) => depth >= spared);
    victims.forEach(({ pid }) => send(pid, "SIGKILL"));
    const strays = isUp ? [] : await strayProcesses(tree);
    strays.forEach((pid) => send(pid, "SIGKILL"));
    // The launcher may be gone before the kernel has ended the others.
    const isLeft = [...seen].some(([pid, startTicks]) => processEntry(pid)?.startTicks === startTicks);
    if (!isUp && strays.length === 0 && !isLeft) return;
    if (Date.now() - started > PATIENCE_MS) {
      throw unavailable("process_stuck", "Cannot stop a program: the system cannot kill it; restart the machine");
    }
    await delay(STEP_MS);
  }
}

/** Returns the live processes of the tree and, where needed, of its session. */
function members({ launcher, strayHome }: Tree): Pick<Descendant, "depth" | "parent" | "pid" | "startTicks">[] {
  const root = launcher();
  if (root === undefined) return [];
  const table = processTable();
  const tree = treeOf(root, table);
  if (strayHome === undefined) return tree;
  const known = new Set(tree.map(({ pid }) => pid));
  const others = [...table.values()].filter(({ pid, session }) => session === root && !known.has(pid));
  return [...tree, ...others.map((other) => ({ ...other, depth: Infinity }))];
}

/** Finds processes that left the tree and the session, by their HOME. */
async function strayProcesses({ strayHome, user }: Tree): Promise<number[]> {
  if (strayHome === undefined) return [];
  const files = [...processTable().keys()].map((pid) => `/proc/${pid}/environ`);
  // Root without CAP_SYS_PTRACE, as in most containers, cannot read another user's environ files. That user can.
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
    // The process has already ended, which is the goal.
  }
}
