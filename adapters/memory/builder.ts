import { commandFailure } from "../../domain/deployments/command_failure.ts";
import type { Builder, BuildRequest } from "../../ports/deployments/builder.ts";
import { aborted } from "../shared/deadline.ts";

/** The behavior of a command in a `MemoryBuilder`. */
export interface BuildScript {
  readonly prints?: readonly string[];
  /** Defaults to 0. */
  readonly exitCode?: number;
  /** Runs until it is aborted. */
  readonly hangs?: boolean;
  /** Side effect on the release folder. */
  readonly effect?: (request: BuildRequest) => void | Promise<void>;
}

/** Builds with scripted commands. A command without a script succeeds and prints nothing. */
export class MemoryBuilder implements Builder {
  /** Scripts by command. May be changed at any time. */
  readonly scripts: Map<string, BuildScript>;
  /** Every request so far. */
  readonly requests: BuildRequest[] = [];

  constructor(scripts: Readonly<Record<string, BuildScript>> = {}) {
    this.scripts = new Map(Object.entries(scripts));
  }

  async build(request: BuildRequest): Promise<void> {
    this.requests.push(request);
    for (const { name, command } of request.commands) {
      request.signal.throwIfAborted();
      const { prints = [], exitCode = 0, hangs = false, effect } = this.scripts.get(command) ?? {};
      for (const line of prints) await request.log(line, "stdout");
      await effect?.(request);
      if (hangs) await aborted(request.signal);
      request.signal.throwIfAborted();
      if (exitCode === 0) continue;
      throw commandFailure(name, { code: exitCode, lines: prints });
    }
  }
}
