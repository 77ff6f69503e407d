import { LineSplitter } from "../../../domain/deployments/line_splitter.ts";
import { plainStep } from "../../../domain/image/plain_step.ts";
import type { FailedStep } from "./build_failure.ts";
import type { BuildTrace, TraceOutput, TraceStatus, TraceStep } from "./build_trace.ts";

/** A line of a build log. */
export interface LogLine {
  readonly text: string;
  readonly stream: "stdout" | "stderr";
}

/** Steps that every build has and that carry no information. */
const UNTOLD = /^\[internal\] load (build definition|\.dockerignore)/;
const INTERNAL = "[internal]";
/** The error of steps that are cancelled because another one failed. */
const CANCELLED = /context canceled|operation was canceled/;

interface Step {
  readonly name: string;
  readonly stdout: LineSplitter;
  readonly stderr: LineSplitter;
  started: number | undefined;
  ended: boolean;
}

/**
 * Turns the traces of a build into log lines: the name of each step as it starts, its output, and its result. Steps run
 * in parallel; when the output switches to another step, the name of that step is repeated.
 */
export class BuildLog {
  readonly #steps = new Map<string, Step>();
  readonly #reported = new Set<string>();
  /** The step of the last line. */
  #current: Step | undefined;
  #failed: FailedStep | undefined;

  /** The step that failed first, if any. */
  get failed(): FailedStep | undefined {
    return this.#failed;
  }

  /** Returns the lines that a trace completes. */
  take(trace: BuildTrace): LogLine[] {
    const lines: LogLine[] = [];
    for (const step of trace.steps) this.#start(step, lines);
    for (const status of trace.statuses) this.#status(status, lines);
    for (const output of trace.outputs) this.#output(output, lines);
    for (const text of trace.warnings) lines.push({ text: `WARNING: ${text}`, stream: "stderr" });
    for (const step of trace.steps) this.#end(step, lines);
    return lines;
  }

  /** Returns the unfinished lines of all steps. */
  flush(): LogLine[] {
    const lines: LogLine[] = [];
    for (const step of this.#steps.values()) this.#flush(step, lines);
    return lines;
  }

  #start({ digest, name, started }: TraceStep, lines: LogLine[]): void {
    if (started === undefined || UNTOLD.test(name)) return;
    const known = this.#steps.get(digest);
    // A step may start again after a part of it was found in the cache.
    if (known) known.started = started;
    if (known && !known.ended) return;
    const step = known ?? {
      name: plainStep(name),
      stdout: new LineSplitter(),
      stderr: new LineSplitter(),
      started,
      ended: false,
    };
    this.#steps.set(digest, step);
    if (!known) this.#announce(step, lines);
  }

  #status({ id, step: digest, bytes, completed }: TraceStatus, lines: LogLine[]): void {
    const step = this.#steps.get(digest);
    const key = `${digest} ${id}`;
    if (!step || !completed || bytes === 0 || this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#turnTo(step, lines);
    lines.push({ text: `${id.replace(/(sha256:[0-9a-f]{12})[0-9a-f]+/, "$1")} ${size(bytes)}`, stream: "stdout" });
  }

  #output({ step: digest, stream, bytes }: TraceOutput, lines: LogLine[]): void {
    const step = this.#steps.get(digest);
    if (!step) return;
    const complete = step[stream].push(bytes);
    if (complete.length > 0) this.#turnTo(step, lines);
    for (const text of complete) lines.push({ text, stream });
  }

  #end({ digest, name, cached, completed, error }: TraceStep, lines: LogLine[]): void {
    if (error !== "" && !CANCELLED.test(error)) this.#failed ??= { name: plainStep(name), error };
    const step = this.#steps.get(digest);
    if (!step || step.ended || completed === undefined) return;
    step.ended = true;
    this.#flush(step, lines);
    const label = /^\[[^\]]*\]/.exec(name)?.[0] ?? name;
    const seconds = ((completed - (step.started ?? completed)) / 1_000).toFixed(1);
    if (error !== "")
      lines.push({ text: `${label} ${CANCELLED.test(error) ? "CANCELLED" : "FAILED"}`, stream: "stderr" });
    else if (label !== INTERNAL)
      lines.push({ text: `${label} ${cached ? "CACHED" : `DONE ${seconds}s`}`, stream: "stdout" });
  }

  #flush(step: Step, lines: LogLine[]): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = step[stream].flush();
      if (rest.length > 0) this.#turnTo(step, lines);
      for (const text of rest) lines.push({ text, stream });
    }
  }

  #turnTo(step: Step, lines: LogLine[]): void {
    if (this.#current !== step) this.#announce(step, lines);
  }

  #announce(step: Step, lines: LogLine[]): void {
    this.#current = step;
    lines.push({ text: step.name, stream: "stdout" });
  }
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
