import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import { SOLE_SERVICE } from "../../../../domain/services/sole_service.ts";
import type { OutputLine } from "../../../../ports/services/runtime.ts";
import { hasServices } from "./records_of.ts";
import type { Run } from "../run.ts";

const OUTPUT_LINES = 50;
const OUTPUT_PAGES = 100;

/** An instance that was started for a service. */
export interface Started {
  readonly record: ServiceRecord;
  readonly instanceId: string;
  /** Whether visitors get to it. */
  readonly isPublic: boolean;
}

/** The path that tells of a service whether it is well. Of several services, the one that answers at the project's own address is asked. */
export function healthPath({ deployment }: Run, { record }: Started): string | null {
  const { healthPath: path, publicEndpoints } = deployment.plan;
  if (!hasServices(deployment)) return path;
  const main = publicEndpoints.find(({ targetPath = "/" }) => targetPath === "/");
  return main?.service === record.spec.name ? path : null;
}

/** What a sentence calls a service that it begins with. */
export function sentenceName({ spec }: ServiceRecord): string {
  return spec.name === SOLE_SERVICE ? "It" : spec.name;
}

/** What a sentence calls a service. */
export function called({ spec }: ServiceRecord): string {
  return spec.name === SOLE_SERVICE ? "it" : spec.name;
}

/** Copies the end of what a service printed into the deployment's log, so that the reason stands where people look. */
export async function showOutput(run: Run, { instanceId, record }: Started): Promise<void> {
  for (const { message, stream } of await lastOutput(run, instanceId).catch(() => [])) {
    await run.writer.line(message, { step: "health", service: record.spec.name, stream, level: "error" });
  }
}

/** The last lines that an instance printed. A program that ends again and again may have printed any number before them. */
export async function lastOutput({ ports }: Run, instanceId: string): Promise<readonly OutputLine[]> {
  let last: readonly OutputLine[] = [];
  for (let pages = 0; pages < OUTPUT_PAGES; pages++) {
    const page = await ports.runtime.output(instanceId, { since: last.at(-1)?.seq ?? 0, limit: 10_000 });
    if (page.length === 0) break;
    last = [...last, ...page].slice(-OUTPUT_LINES);
  }
  return last;
}
