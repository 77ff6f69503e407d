import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import { hasServices, SOLE_SERVICE } from "../../../../domain/services/sole_service.ts";
import type { OutputLine } from "../../../../ports/services/runtime.ts";
import type { Run } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"runtime">;

const OUTPUT_LINES = 50;
const OUTPUT_PAGES = 100;

/** An instance that was started for a service. */
export interface Started {
  readonly record: ServiceRecord;
  readonly instanceId: string;
  /** Whether it is public. */
  readonly isPublic: boolean;
}

/** The health path of a service. Of several services, only the one at the root of the project's own address has it. */
export function healthPath({ deployment }: Run, { record }: Started): string | null {
  const { healthPath: path, publicEndpoints } = deployment.plan;
  if (!hasServices(deployment)) return path;
  const main = publicEndpoints.find(({ targetPath = "/" }) => targetPath === "/");
  return main?.service === record.spec.name ? path : null;
}

/** The name of a service at the beginning of a sentence. */
export function sentenceName({ spec }: ServiceRecord): string {
  return spec.name === SOLE_SERVICE ? "It" : spec.name;
}

/** The name of a service within a sentence. */
export function called({ spec }: ServiceRecord): string {
  return spec.name === SOLE_SERVICE ? "it" : spec.name;
}

/** Copies the last output of a service into the deployment's log, where people look for the cause. */
export async function showOutput(run: StepRun, { instanceId, record }: Started): Promise<void> {
  for (const { message, stream } of await lastOutput(run, instanceId).catch(() => [])) {
    await run.writer.line(message, { step: "health", service: record.spec.name, stream, level: "error" });
  }
}

/**
 * The last lines that an instance printed. Reads page by page, because a crash loop may have printed any number before.
 */
export async function lastOutput({ ports }: StepRun, instanceId: string): Promise<readonly OutputLine[]> {
  let last: readonly OutputLine[] = [];
  for (let pages = 0; pages < OUTPUT_PAGES; pages++) {
    const page = await ports.runtime.output(instanceId, { since: last.at(-1)?.seq ?? 0, limit: 10_000 });
    if (page.length === 0) break;
    last = [...last, ...page].slice(-OUTPUT_LINES);
  }
  return last;
}
