import { loggedError } from "../../domain/logged_error.ts";
import { lineBytes, type OutputPart, OutputTail, RECORDED_BYTES } from "../../domain/deployments/output_tail.ts";
import { secretMask } from "../../domain/deployments/secret_mask.ts";
import { secretValues } from "../../domain/deployments/secret_values.ts";
import { Failure } from "../../domain/failure.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { Log } from "../../ports/system/log.ts";
import type { Instance, OutputLine, Runtime } from "../../ports/services/runtime.ts";
import type { RuntimeLogs } from "../../ports/services/runtime_logs.ts";
import { Slots } from "../system/slots.ts";

export interface RecordedRuntimePorts {
  readonly deployments: Pick<Deployments, "environment" | "get">;
  readonly log: Log;
  readonly runtimeLogs: RuntimeLogs;
}

/**
 * Practically unlimited: seeking in a large log is slow in a container engine, and pages are bounded by size as well.
 */
const PAGE = 1_000_000;
/** Number of lines to mask before yielding to the event loop. */
const AT_A_TIME = 5_000;
/** Maximum number of concurrent recordings, as each may hold the maximum recorded size in memory. */
const AT_ONCE = 2;
const STOPPING = "Cannot remove this: the server is being stopped. Try again once it is up";
const NEVER = new AbortController().signal;

/** Disposing waits for recordings in progress; instances removed later stay until another server removes them. */
export type RecordedRuntime = Runtime & AsyncDisposable;

/**
 * Decorates a runtime: before an instance is removed, its output up to the last line is recorded, with the secrets of
 * its deployment masked. A failed recording never blocks the removal of an instance; it is only logged.
 */
export function recordedRuntime(
  runtime: Runtime,
  ports: RecordedRuntimePorts,
  { maxBytes = RECORDED_BYTES }: { readonly maxBytes?: number } = {},
): RecordedRuntime {
  const { log, runtimeLogs } = ports;
  const record = recorder(runtime, ports, maxBytes);
  const slots = new Slots(AT_ONCE);
  const recordings = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    async start(request) {
      await runtimeLogs.seal(request, request.instanceId).catch(notRecorded(request.instanceId));
      return runtime.start(request);
    },
    async remove(instanceId, options) {
      // An instance that cannot be found can hardly be removed either; if it is, the missing recording is logged.
      const finding = runtime.find(instanceId);
      await finding.catch(() => {});
      const beforeForgetting = async () => {
        if (isClosed) throw new Failure("unavailable", "stopping", STOPPING);
        const recording = finding
          .then((found) => found && slots.run(() => record(found), { signal: NEVER }))
          .catch(notRecorded(instanceId));
        recordings.add(recording);
        await recording.finally(() => recordings.delete(recording));
        await options.beforeForgetting?.();
      };
      await runtime.remove(instanceId, { ...options, beforeForgetting });
    },
    find: (instanceId) => runtime.find(instanceId),
    list: (options) => runtime.list(options),
    restart: (instanceId, options) => runtime.restart(instanceId, options),
    introduce: (instanceId) => runtime.introduce(instanceId),
    usage: (instanceId) => runtime.usage(instanceId),
    output: (instanceId, wanted) => runtime.output(instanceId, wanted),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.all(recordings);
    },
  };

  function notRecorded(instanceId: string) {
    return (error: unknown) => {
      log.write("warn", "Could not record the output of an instance", { instanceId, ...loggedError(error) });
    };
  }
}

/** Records the output of an instance that has exited and still exists. */
function recorder(runtime: Runtime, { deployments, runtimeLogs }: RecordedRuntimePorts, maxBytes: number) {
  return async function ({ deploymentId, instanceId, service }: Instance): Promise<void> {
    let page = await runtime.output(instanceId, { since: 0, limit: PAGE });
    if (page.length === 0) return;
    const deployment = await deployments.get(deploymentId);
    // The log would be deleted together with its deployment.
    if (!deployment) return;
    const mask = secretMask(secretValues(deployment, await deployments.environment(deploymentId)));
    const tail = new OutputTail<LinePart>(maxBytes);
    while (page.length > 0) {
      for (const [index, line] of page.entries()) {
        tail.add(partOf({ ...line, message: mask(line.message) }));
        if (index % AT_A_TIME === 0) await breathe();
      }
      page = await runtime.output(instanceId, { since: page.at(-1)!.seq, limit: PAGE });
    }
    // Another process may have removed it meanwhile. That one recorded all of it, and this one perhaps only the
    // beginning.
    if ((await runtime.output(instanceId, { since: 0, limit: 1 })).length === 0) return;
    const lines = tail.parts.map(({ line }) => line);
    await runtimeLogs
      .append({ deploymentId, service }, { instanceId, lines, leftOut: tail.leftOut }, { maxBytes })
      .catch(unlessDeleted);
  };
}

function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

interface LinePart extends OutputPart {
  readonly line: OutputLine;
}

function partOf(line: OutputLine): LinePart {
  return { lines: 1, bytes: lineBytes(line.message), seq: line.seq, at: line.at, line };
}

function unlessDeleted(error: unknown): void {
  if (!(error instanceof Failure && error.kind === "not_found")) throw error;
}
