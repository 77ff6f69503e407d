import type { OutputLine, OutputQuery, Runtime } from "../../ports/services/runtime.ts";
import type { LogOwner, LogState, RuntimeLogs } from "../../ports/services/runtime_logs.ts";

export interface ServiceLogPorts {
  readonly runtime: Pick<Runtime, "output">;
  readonly runtimeLogs: RuntimeLogs;
}

/** The parts that make up the log of a service. */
export interface ServiceLogParts {
  readonly owner: LogOwner;
  /** The current or last instance of the service. */
  readonly instanceId: string | null;
  readonly state: LogState | undefined;
}

/**
 * The log of a service of a release: first the recorded output, then the output of its current instance. A line keeps
 * its number when the instance is removed and its output recorded.
 */
export class ServiceLog {
  readonly #ports: ServiceLogPorts;
  readonly #owner: LogOwner;
  readonly #instanceId: string | null;
  #state: LogState | undefined;

  constructor(ports: ServiceLogPorts, { owner, instanceId, state }: ServiceLogParts) {
    this.#ports = ports;
    this.#owner = owner;
    this.#instanceId = instanceId;
    this.#state = state;
  }

  /** The number of the last recorded line. */
  get recorded(): number {
    return this.#state?.last ?? 0;
  }

  /** Returns lines like `Runtime.output`; none when there are no more. */
  async read(wanted: OutputQuery): Promise<readonly OutputLine[]> {
    for (;;) {
      const lines = await this.#read(wanted);
      if (lines.length > 0 || this.#instanceId === null) return lines;
      // The instance may have been recorded and removed a moment ago.
      const before = this.#state;
      [this.#state] = await this.#ports.runtimeLogs.states([this.#owner]);
      if (this.#state?.last === before?.last && this.#state?.endsWith === before?.endsWith) return lines;
    }
  }

  async #read(wanted: OutputQuery): Promise<readonly OutputLine[]> {
    const { runtime, runtimeLogs } = this.#ports;
    const { recorded } = this;
    return inSuccession(
      { read: (query) => (query.since < recorded ? runtimeLogs.read(this.#owner, query) : none()), last: recorded },
      // Once recorded, the record is complete whether the instance still exists or not, and needs no container engine.
      this.#state?.endsWith === this.#instanceId
        ? none
        : (query) => (this.#instanceId === null ? none() : runtime.output(this.#instanceId, query)),
      wanted,
    );
  }
}

type Read = (wanted: OutputQuery) => Promise<readonly OutputLine[]>;

/** Reads a complete log to its last line, and then a second one, whose numbers continue those of the first. */
export async function inSuccession(
  first: { readonly read: Read; readonly last: number },
  second: Read,
  wanted: OutputQuery,
): Promise<readonly OutputLine[]> {
  const { last } = first;
  const { since, limit } = wanted;
  const lines = await first.read(wanted);
  if (lines.length >= limit || (lines.at(-1)?.seq ?? last) < last) return lines;
  const rest = await second({ ...wanted, since: Math.max(0, since - last), limit: limit - lines.length });
  return [...lines, ...rest.map((line) => ({ ...line, seq: line.seq + last }))];
}

function none(): Promise<readonly OutputLine[]> {
  return Promise.resolve([]);
}
