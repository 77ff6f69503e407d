import type { DeployedService, Deployment } from "../../../../domain/deployments/deployment.ts";
import { type InstanceOwner, serverOf } from "../../../../domain/deployments/instance_id.ts";
import type { Failure } from "../../../../domain/failure.ts";
import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import type { ServiceMount } from "../../../../domain/services/service_spec.ts";
import type { Instance } from "../../../../ports/services/runtime.ts";

/** A service before a changeover. */
export interface RunningService {
  readonly record: ServiceRecord;
  readonly service: DeployedService;
  /** The deployment whose release it belongs to. */
  readonly deployment: Deployment;
  /** Whether it runs now. */
  readonly runs: boolean;
  /** Whether it is public now. */
  readonly isPublic: boolean;
}

/** Input of a changeover. */
export interface ChangeoverPlan {
  readonly former: readonly RunningService[];
  readonly wanted: readonly ServiceRecord[];
  /** The deployment that the new instances belong to, and the owner that their ids are derived from. */
  readonly deployment: Deployment;
  readonly owner: InstanceOwner;
  /** The public services. */
  readonly publicServices: ReadonlySet<string>;
  /** Reports the interim state of a service. */
  readonly report: (name: string, change: Partial<DeployedService>) => Promise<void>;
  /** Whether unchanged services are left alone. */
  readonly keepsUnchanged: boolean;
  /** Whether a partial release is acceptable if some services fail. */
  readonly allowsPartial: boolean;
  /** Whether one-shot services run; a rollback does not run them again. */
  readonly runsOneShots: boolean;
}

/** The outcome of bringing up a service. */
export interface Outcome {
  readonly name: string;
  readonly status: "healthy" | "done" | "unchanged" | "failed";
  /** The instance that runs now: of the new version, or of the former one if that failed. */
  readonly instanceId: string | null;
  /** The instance of the new version, as it was when it was started. */
  readonly instance?: Instance;
  readonly site: string | null;
  readonly failure: Failure | null;
  /** Whether it runs beside its former version, which visitors and other services still reach. */
  readonly beside: boolean;
}

/** Whether a former service can stay if unchanged: it runs, or it is a one-shot service that did not fail. */
export function canStay({ spec }: ServiceRecord, { instanceId, status }: DeployedService, runs: boolean): boolean {
  return spec.oneShot ? status !== "failed" : runs && instanceId !== null;
}

/** The volume or path that a mount writes to; none if it is read-only, in memory or an unnamed volume. */
export function keptIn(mount: ServiceMount): readonly string[] {
  if (mount.kind === "memory" || mount.readOnly) return [];
  if (mount.kind === "volume") return mount.name === null ? [] : [`volume ${mount.name}`];
  return [`${mount.kind} ${mount.path}`];
}

/** Whether a former service runs where the new one would. */
export function isSamePlace({ deployment }: ChangeoverPlan, { instanceId }: DeployedService): boolean {
  return instanceId === null || serverOf(instanceId) === (deployment.plan.serverId ?? null);
}

/** Former services that are no longer wanted but write to the same volume as this one, as after a rename. */
export function oustedBy(plan: ChangeoverPlan, { spec }: ServiceRecord): readonly RunningService[] {
  const own = new Set(spec.container.mounts.flatMap(keptIn));
  return plan.former.filter(({ isPublic, record, runs, service }) => {
    const isWanted = plan.wanted.some((wanted) => wanted.spec.name === service.name);
    if (isWanted || isPublic || !runs || service.instanceId === null) return false;
    return record.spec.container.mounts.flatMap(keptIn).some((volume) => own.has(volume));
  });
}

/** The former version of a service. */
export function formerOf(plan: ChangeoverPlan, name: string): RunningService | undefined {
  return plan.former.find(({ record }) => record.spec.name === name);
}

/**
 * Whether a service runs beside its former version: one that is or becomes public, so that visitors notice nothing, and
 * a process that others know by address, until they are replaced. Containers use names, and two of one could conflict.
 */
export function mayStandBeside(plan: ChangeoverPlan, { image, spec: { container, name } }: ServiceRecord): boolean {
  // It has ports of the server to itself.
  if (container.recipe) return false;
  if (plan.publicServices.has(name) || formerOf(plan, name)?.isPublic) return true;
  return image === null && plan.wanted.some(({ spec }) => spec.dependsOn.some(({ service }) => service === name));
}
