import type { Log, LogLevel } from "../../ports/system/log.ts";

/** Keeps log entries, as JSON lines. */
export class MemoryLog implements Log {
  readonly lines: { readonly level: LogLevel; readonly text: string }[] = [];

  write(level: LogLevel, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push({ level, text: JSON.stringify({ message, ...fields }) });
  }
}
