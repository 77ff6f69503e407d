import type { ServiceRecord } from "./service_set.ts";
import { isSite } from "./sole_service.ts";

/** A service before the changeover. */
export interface FormerService {
  readonly record: ServiceRecord;
  /** Whether it is running or, if it is a one-shot service, has completed. */
  readonly stands: boolean;
}

/** What happens to a service: kept running, replaced by its new version, or added. */
export type ServiceChange = "keep" | "replace" | "add";

/** Returns the changes that turn `former` into `wanted`; services that are unchanged and still stand are kept. */
export function serviceChanges(
  wanted: readonly ServiceRecord[],
  former: readonly FormerService[],
): ReadonlyMap<string, ServiceChange> {
  const known = new Map(former.map((placed) => [placed.record.spec.name, placed]));
  const moves = new Map<string, ServiceChange>();
  for (const record of wanted) {
    const before = known.get(record.spec.name);
    const canStay = !record.failure && !isSite(record.spec);
    const isKept = before !== undefined && before.stands && canStay && isSame(before.record, record);
    moves.set(record.spec.name, isKept ? "keep" : before ? "replace" : "add");
  }
  while (takeAlong(wanted, moves)) continue;
  return moves;
}

/** Replaces one kept service that restarts with a dependency or knows its address. Returns whether there was one. */
function takeAlong(wanted: readonly ServiceRecord[], moves: Map<string, ServiceChange>): boolean {
  for (const { spec, image } of wanted) {
    if (moves.get(spec.name) !== "keep") continue;
    const follows = spec.dependsOn.some(
      ({ service, restart }) => (restart || image === null) && (moves.get(service) ?? "keep") !== "keep",
    );
    if (!follows) continue;
    moves.set(spec.name, "replace");
    return true;
  }
  return false;
}

/** Returns whether two versions of a service would run the same; how they were built does not count. */
export function isSame(a: ServiceRecord, b: ServiceRecord): boolean {
  return written(runOf(a)) === written(runOf(b));
}

function runOf({ image, madeFrom, spec }: ServiceRecord) {
  const { container, environment, from, oneShot, ports } = spec;
  const program = image === null && from.kind === "app" ? [from.rootDirectory, from.startCommand] : null;
  return { image, madeFrom, container, environment, oneShot, ports, program };
}

/** Serializes a value with sorted keys, so that equal values give the same string. */
function written(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
