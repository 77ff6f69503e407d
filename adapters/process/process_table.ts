import { readdirSync, readFileSync } from "node:fs";

/** A process of this machine, from /proc/[pid]/stat, which every user can read. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** CPU time of the process and its reaped children, in hundredths of a second. */
  readonly ticks: number;
  readonly memoryBytes: number;
  /** When it started, in hundredths of a second after the machine; tells apart processes of the same pid. */
  readonly startTicks: number;
}

/** A process below another one, with its depth. */
export interface Descendant extends ProcessEntry {
  readonly depth: number;
}

const AT_PAGESZ = 6n;
const PAGE = pageSize();

/** Returns every live process by pid, without zombies. */
export function processTable(): ReadonlyMap<number, ProcessEntry> {
  const table = new Map<number, ProcessEntry>();
  for (const name of readdirSync("/proc")) {
    const entry = /^\d+$/.test(name) ? processEntry(Number(name)) : undefined;
    if (entry) table.set(entry.pid, entry);
  }
  return table;
}

/** Returns a process and all its descendants. */
export function treeOf(root: number, table: ReadonlyMap<number, ProcessEntry>): Descendant[] {
  const children = Map.groupBy(table.values(), ({ parent }) => parent);
  const top = table.get(root);
  const found: Descendant[] = top ? [{ ...top, depth: 0 }] : [];
  // The array grows during the loop (breadth-first).
  for (const { pid, depth } of found) {
    for (const child of children.get(pid) ?? []) found.push({ ...child, depth: depth + 1 });
  }
  return found;
}

/** Returns a live process; `undefined` if it has ended or is a zombie. */
export function processEntry(pid: number): ProcessEntry | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The process name may contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    const number = (index: number) => Number(fields[index]);
    const ticks = number(11) + number(12) + number(13) + number(14);
    const [memoryBytes, startTicks] = [number(21) * PAGE, number(19)];
    return { pid, parent: number(1), session: number(3), ticks, memoryBytes, startTicks };
  } catch {
    return undefined;
  }
}

function pageSize(): number {
  try {
    const vector = new BigUint64Array(new Uint8Array(readFileSync("/proc/self/auxv")).buffer);
    for (let at = 0; at + 1 < vector.length; at += 2) if (vector[at] === AT_PAGESZ) return Number(vector[at + 1]);
  } catch {
    // Not Linux: the table is not used there.
  }
  return 4096;
}
