import { loggedError } from "../../domain/logged_error.ts";
import { LOG_LEVELS, type Log, type LogLevel } from "../../ports/system/log.ts";

export interface ConsoleLogOptions {
  readonly level: LogLevel;
  readonly format: "json" | "text";
  /** Called with finished lines, several at once. */
  readonly print: (text: string) => void;
  /** How long lines are buffered to be printed together, in milliseconds. */
  readonly gatherMs?: number;
}

/** Prints one line per event, buffered for a moment so that a high load causes few writes. */
export class ConsoleLog implements Log, Disposable {
  readonly #options: ConsoleLogOptions;
  readonly #from: number;
  #text = "";
  #timer: Timer | undefined;
  #formatted = { ms: NaN, text: "" };

  constructor(options: ConsoleLogOptions) {
    this.#options = options;
    this.#from = LOG_LEVELS.indexOf(options.level);
  }

  write(level: LogLevel, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#from) return;
    const line = this.#options.format === "json" ? jsonLine : textLine;
    this.#text += `${line({ at: this.#time(), level, message }, fields)}\n`;
    this.#timer ??= setTimeout(() => this.flush(), this.#options.gatherMs ?? 50);
  }

  /** Prints the buffered lines. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = "";
    if (text !== "") this.#options.print(text);
  }

  [Symbol.dispose](): void {
    this.flush();
  }

  /** The current time, formatted once per millisecond. */
  #time(): string {
    const now = Date.now();
    if (now !== this.#formatted.ms) this.#formatted = { ms: now, text: new Date(now).toISOString() };
    return this.#formatted.text;
  }
}

interface Head {
  readonly at: string;
  readonly level: LogLevel;
  readonly message: string;
}

type Fields = Readonly<Record<string, unknown>>;

function jsonLine({ at, level, message }: Head, fields: Fields): string {
  const start = `{"at":"${at}","level":"${level}","message":${JSON.stringify(message)}}`;
  try {
    // Every request is logged, and a replacer would take longer than all the rest.
    const rest = isFlat(fields) ? JSON.stringify(fields) : JSON.stringify(fields, withErrors);
    return rest === "{}" ? start : `${start.slice(0, -1)},${rest.slice(1)}`;
  } catch {
    return start;
  }
}

function isFlat(fields: Fields): boolean {
  for (const name in fields) if (typeof fields[name] === "object") return false;
  return true;
}

function textLine({ at, level, message }: Head, fields: Fields): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) => `${key}=${printable(typeof value === "string" ? value : JSON.stringify(value, withErrors))}`,
    );
  return [at.slice(11, 23), level.padEnd(5), printable(message), ...rest].join(" ");
}

/** A JSON replacer for errors, which would serialize to an empty object. */
function withErrors(_key: string, value: unknown): unknown {
  return value instanceof Error ? loggedError(value) : value;
}

/** Escapes control characters, including line breaks, so that they do not reach a terminal. */
function printable(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex
    /[\x00-\x1f\x7f-\x9f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}
