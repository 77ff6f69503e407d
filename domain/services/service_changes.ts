import type { ServiceRecord } from "./service_set.ts";
import { isSite } from "./sole_service.ts";

/** A service as it stands before anything is changed. */
export interface FormerService {
  readonly record: ServiceRecord;
  /** Whether it runs, or has run where it ends by itself. */
  readonly stands: boolean;
}

/** What becomes of a service: left as it is, put in the place of its former version, or begun. */
export type Move = "keep" | "replace" | "add";

/** What has to be done so that `wanted` runs where `former` does: nothing to what is the same and still stands. */
export function serviceChanges(
  wanted: readonly ServiceRecord[],
  former: readonly FormerService[],
): ReadonlyMap<string, Move> {
  const known = new Map(former.map((placed) => [placed.record.spec.name, placed]));
  const moves = new Map<string, Move>();
  for (const record of wanted) {
    const before = known.get(record.spec.name);
    const canStay = !record.failure && !isSite(record.spec);
    const isKept = before !== undefined && before.stands && canStay && isSame(before.record, record);
    moves.set(record.spec.name, isKept ? "keep" : before ? "replace" : "add");
  }
  while (takeAlong(wanted, moves)) continue;
  return moves;
}

/** Whoever is to be started anew with another, or knows its address, moves with it. Tells whether one was found. */
function takeAlong(wanted: readonly ServiceRecord[], moves: Map<string, Move>): boolean {
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

/** Tells whether two versions of a service would run the same; what only concerns how it came to be does not count. */
export function isSame(a: ServiceRecord, b: ServiceRecord): boolean {
  return written(runOf(a)) === written(runOf(b));
}

function runOf({ image, madeFrom, spec }: ServiceRecord) {
  const { container, environment, from, oneShot, ports } = spec;
  const program = image === null && from.kind === "app" ? [from.rootDirectory, from.startCommand] : null;
  return { image, madeFrom, container, environment, oneShot, ports, program };
}

/** The same text for the same value, in whatever order its keys came. */
function written(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
