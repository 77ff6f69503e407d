import { readdirSync, readFileSync } from "node:fs";

/** One process of this machine, as the kernel shows it to everyone. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Processor time of it and of its children that ended, in hundredths of a second. */
  readonly ticks: number;
  readonly memoryBytes: number;
}

/** A process below another one, and how far below. */
export interface Descendant extends ProcessEntry {
  readonly depth: number;
}

const AT_PAGESZ = 6n;
const PAGE = pageSize();

/** Every living process by its id; those that only wait to be collected are left out. */
export function processTable(): ReadonlyMap<number, ProcessEntry> {
  const table = new Map<number, ProcessEntry>();
  for (const name of readdirSync("/proc")) {
    const entry = /^\d+$/.test(name) ? processEntry(Number(name)) : undefined;
    if (entry) table.set(entry.pid, entry);
  }
  return table;
}

/** A process and everything below it. */
export function treeOf(root: number, table: ReadonlyMap<number, ProcessEntry>): Descendant[] {
  const children = Map.groupBy(table.values(), ({ parent }) => parent);
  const top = table.get(root);
  const found: Descendant[] = top ? [{ ...top, depth: 0 }] : [];
  // It grows while it is walked.
  for (const { pid, depth } of found) {
    for (const child of children.get(pid) ?? []) found.push({ ...child, depth: depth + 1 });
  }
  return found;
}

function processEntry(pid: number): ProcessEntry | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name before may hold spaces and brackets.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    const number = (index: number) => Number(fields[index]);
    const ticks = number(11) + number(12) + number(13) + number(14);
    return { pid, parent: number(1), session: number(3), ticks, memoryBytes: number(21) * PAGE };
  } catch {
    return undefined;
  }
}

function pageSize(): number {
  try {
    const vector = new BigUint64Array(new Uint8Array(readFileSync("/proc/self/auxv")).buffer);
    for (let at = 0; at + 1 < vector.length; at += 2) if (vector[at] === AT_PAGESZ) return Number(vector[at + 1]);
  } catch {
    // Not Linux: nothing reads the table there.
  }
  return 4096;
}
