import { wireFields } from "./wire_format.ts";

/** A build step as the engine reports it at one moment. */
export interface TraceStep {
  readonly digest: string;
  readonly name: string;
  readonly cached: boolean;
  /** In milliseconds; `undefined` until then. */
  readonly started: number | undefined;
  readonly completed: number | undefined;
  readonly error: string;
}

/** An activity of a step that has a size, such as pulling a layer or sending files. */
export interface TraceStatus {
  readonly id: string;
  readonly step: string;
  readonly bytes: number;
  readonly completed: boolean;
}

/** Output of a step. */
export interface TraceOutput {
  readonly step: string;
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
}

/** The changes since the previous trace. */
export interface BuildTrace {
  readonly steps: readonly TraceStep[];
  readonly statuses: readonly TraceStatus[];
  readonly outputs: readonly TraceOutput[];
  readonly warnings: readonly string[];
}

const decoder = new TextDecoder();
type Fields = ReadonlyMap<number, number | Uint8Array>;

/** Parses a `moby.buildkit.v1.StatusResponse`; throws a `RangeError` if it is malformed. */
export function buildTrace(message: Uint8Array): BuildTrace {
  const trace = { steps: [], statuses: [], outputs: [], warnings: [] } as {
    steps: TraceStep[];
    statuses: TraceStatus[];
    outputs: TraceOutput[];
    warnings: string[];
  };
  for (const [field, value] of wireFields(message)) {
    if (!(value instanceof Uint8Array)) continue;
    const fields: Fields = new Map(wireFields(value));
    if (field === 1) trace.steps.push(step(fields));
    else if (field === 2) trace.statuses.push(status(fields));
    else if (field === 3) trace.outputs.push(output(fields));
    else if (field === 4) trace.warnings.push(text(fields, 3));
  }
  return trace;
}

function step(fields: Fields): TraceStep {
  return {
    digest: text(fields, 1),
    name: text(fields, 3).replaceAll(/\s+/g, " ").trim(),
    cached: number(fields, 4) === 1,
    started: time(fields, 5),
    completed: time(fields, 6),
    error: text(fields, 7),
  };
}

function status(fields: Fields): TraceStatus {
  const bytes = number(fields, 4);
  return { id: text(fields, 1), step: text(fields, 2), bytes, completed: fields.has(8) };
}

function output(fields: Fields): TraceOutput {
  const bytes = fields.get(4);
  return {
    step: text(fields, 1),
    stream: number(fields, 3) === 2 ? "stderr" : "stdout",
    bytes: bytes instanceof Uint8Array ? bytes : new Uint8Array(),
  };
}

function text(fields: Fields, field: number): string {
  const value = fields.get(field);
  return value instanceof Uint8Array ? decoder.decode(value) : "";
}

function number(fields: Fields, field: number): number {
  const value = fields.get(field);
  return typeof value === "number" ? value : 0;
}

function time(fields: Fields, field: number): number | undefined {
  const value = fields.get(field);
  if (!(value instanceof Uint8Array)) return undefined;
  const parts: Fields = new Map(wireFields(value));
  return number(parts, 1) * 1_000 + number(parts, 2) / 1_000_000;
}
