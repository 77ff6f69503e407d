import {
  type LeftOut,
  leftOutLine,
  leftOutTogether,
  lineBytes,
  type OutputPart,
  OutputTail,
} from "../../domain/deployments/output_tail.ts";
import { withPlainText } from "../../domain/deployments/plain_text.ts";
import { notFound } from "../../domain/failure.ts";
import type { OutputLine, OutputQuery } from "../../ports/services/runtime.ts";
import type { InstanceOutput, LogOwner, LogState, RuntimeLogs } from "../../ports/services/runtime_logs.ts";
import { copied } from "./copied.ts";
import type { MemoryTables, RuntimeLogRow } from "./memory_tables.ts";

const EMPTY: RuntimeLogRow = { lines: [], endsWith: null, after: 0, leftOut: null, ownLeftOut: null };

/** Keeps runtime logs (the output of services) in memory. */
export class MemoryRuntimeLogs implements RuntimeLogs {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async append(owner: LogOwner, output: InstanceOutput, { maxBytes }: { readonly maxBytes: number }): Promise<void> {
    const logs = this.#tables.deployments.get(owner.deploymentId)?.runtimeLogs;
    if (!logs) throw notFound("deployment");
    const before = logs.get(owner.service) ?? EMPTY;
    const isAgain = before.endsWith === output.instanceId;
    const after = isAgain ? before.after : lastOf(before);
    const own = output.lines.map((line) => ({ ...withPlainText(line), seq: line.seq + after }));
    const room = output.leftOut ? 0 : maxBytes - own.reduce((sum, { message }) => sum + lineBytes(message), 0);
    const tail = new OutputTail<LinePart>(room, isAgain ? before.leftOut : allLeftOut(before));
    for (const line of before.lines) if (line.seq <= after) tail.add(partOf(line));
    logs.set(owner.service, {
      lines: [...tail.parts.map(({ line }) => line), ...own],
      endsWith: output.instanceId,
      after,
      leftOut: tail.leftOut,
      ownLeftOut: output.leftOut && { ...withPlainText(output.leftOut), seq: output.leftOut.seq + after },
    });
  }

  async seal(owner: LogOwner, instanceId: string): Promise<void> {
    const row = this.#row(owner);
    if (row?.endsWith !== instanceId) return;
    this.#tables.deployments.get(owner.deploymentId)!.runtimeLogs.set(owner.service, { ...row, endsWith: null });
  }

  async states(owners: readonly LogOwner[]): Promise<readonly LogState[]> {
    return owners.flatMap((owner) => {
      const row = this.#row(owner);
      const { deploymentId, service } = owner;
      return row ? [{ deploymentId, service, last: lastOf(row), endsWith: row.endsWith }] : [];
    });
  }

  async read(owner: LogOwner, { since, limit, from = new Date(0) }: OutputQuery): Promise<readonly OutputLine[]> {
    const row = this.#row(owner) ?? EMPTY;
    const leftOut = allLeftOut(row);
    const all = leftOut ? [leftOutLine(leftOut), ...row.lines] : row.lines;
    return copied(all.filter(({ seq, at }) => seq > since && at >= from).slice(0, limit));
  }

  async crowded(deployments: number): Promise<readonly string[]> {
    const withLogs = [...this.#tables.deployments.values()].filter(({ runtimeLogs }) => runtimeLogs.size > 0);
    const byProject = Map.groupBy(withLogs, ({ deployment }) => deployment.projectId);
    return [...byProject].flatMap(([projectId, rows]) => (rows.length > deployments ? projectId : []));
  }

  async remove(deploymentIds: readonly string[]): Promise<void> {
    for (const id of deploymentIds) this.#tables.deployments.get(id)?.runtimeLogs.clear();
  }

  #row({ deploymentId, service }: LogOwner): RuntimeLogRow | undefined {
    return this.#tables.deployments.get(deploymentId)?.runtimeLogs.get(service);
  }
}

interface LinePart extends OutputPart {
  readonly line: OutputLine;
}

function partOf(line: OutputLine): LinePart {
  return { lines: 1, bytes: lineBytes(line.message), seq: line.seq, at: line.at, line };
}

function lastOf({ lines }: RuntimeLogRow): number {
  return lines.at(-1)?.seq ?? 0;
}

function allLeftOut({ leftOut, ownLeftOut }: RuntimeLogRow): LeftOut | null {
  return leftOutTogether(leftOut, ownLeftOut);
}
