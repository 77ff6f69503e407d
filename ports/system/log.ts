export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Takes what an operator should know, one line an event; values that are `Secret` stay hidden. */
export interface Log {
  write(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
}
