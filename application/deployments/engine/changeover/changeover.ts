import { adoptedInstance, instanceIdOf } from "../../../../domain/deployments/instance_id.ts";
import { type Failure, invalid } from "../../../../domain/failure.ts";
import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import { type ServiceChange, serviceChanges } from "../../../../domain/services/service_changes.ts";
import type { ServiceDependency } from "../../../../domain/services/service_spec.ts";
import { isSite, siteFolder } from "../../../../domain/services/sole_service.ts";
import type { Instance } from "../../../../ports/services/runtime.ts";
import {
  canStay,
  type ChangeoverPlan,
  formerOf,
  isSamePlace,
  mayStandBeside,
  type Outcome,
  oustedBy,
  type RunningService,
} from "./changeover_plan.ts";
import { awaitReady, stayUp } from "./await_ready.ts";
import { isOwnFailure } from "./own_failure.ts";
import { type Run, logLine, StepFailed } from "../run.ts";
import { refuseEmptySite } from "../build/refuse_empty_site.ts";
import { filesOf, startService } from "../../../services/start_service.ts";
import { sentenceName, showOutput, type Started } from "./started_service.ts";

/** A run with the ports of this step. */
type StepRun = Run<"healthProbe" | "instanceSockets" | "releaseFolders" | "runtime">;

export const STOP_GRACE_MS = 10_000;
const hasFailed = ({ status }: Outcome): boolean => status === "failed";

interface Task {
  /** Resolves once the service was started, or never will be. */
  readonly started: Promise<void>;
  readonly outcome: Promise<Outcome>;
}

/**
 * Starts each service as soon as its dependencies allow: public ones beside their former version, others in its place.
 */
export class Changeover {
  readonly #run: StepRun;
  readonly #plan: ChangeoverPlan;
  readonly #moves: ReadonlyMap<string, ServiceChange>;
  readonly #tasks = new Map<string, Task>();
  readonly #outcomes = new Map<string, Outcome>();
  /** The instance that was, or is being, started for each service. */
  readonly #instances = new Map<string, string>();
  /** Services whose former version was removed. */
  readonly #gone = new Set<string>();
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;

  constructor(run: StepRun, plan: ChangeoverPlan) {
    this.#run = run;
    this.#plan = plan;
    this.#moves = plan.keepsUnchanged
      ? serviceChanges(
          plan.wanted,
          plan.former.map(({ record, runs, service }) => ({
            record,
            stands: isSamePlace(plan, service) && canStay(record, service, runs),
          })),
        )
      : new Map(plan.wanted.map(({ spec }) => [spec.name, this.#former(spec.name) ? "replace" : "add"]));
    this.#signal = AbortSignal.any([run.signal, this.#stop.signal]);
  }

  /** Starts all services; resolves once each was started, or never will be. */
  async start(): Promise<void> {
    for (const record of this.#plan.wanted) this.#launch(record);
    await Promise.all(Array.from(this.#tasks.values(), ({ started }) => started));
    // Reports at once what stops the whole changeover.
    this.#signal.throwIfAborted();
  }

  /** Returns the outcome of each service. Throws the cause if none is up, or if one failed where all are required. */
  async answered(): Promise<readonly Outcome[]> {
    await Promise.all(Array.from(this.#tasks.values(), ({ outcome }) => outcome));
    return this.#decided();
  }

  /** Watches the new services during probation, and returns the outcome of each. Throws like `answered`. */
  async awaitProbation(): Promise<readonly Outcome[]> {
    const watched = this.#plan.wanted.map(async (record) => {
      const { status, instanceId } = this.#outcomes.get(record.spec.name)!;
      if (status !== "healthy" || instanceId === null) return;
      const started = this.#started(record, instanceId);
      await stayUp(this.#run, started, this.#signal).then(
        () => started.isPublic || logLine(this.#run, "health", `${sentenceName(record)} is up`),
        (error) => this.#lost(record, instanceId, error),
      );
    });
    await Promise.all(watched);
    this.#signal.throwIfAborted();
    return this.#decided();
  }

  /** Aborts all unfinished work; resolves once none is left. */
  async abandon(): Promise<void> {
    this.#stop.abort(new Error("The changeover was aborted"));
    await Promise.allSettled(Array.from(this.#tasks.values(), ({ outcome }) => outcome));
  }

  #decided(): readonly Outcome[] {
    const outcomes = this.#plan.wanted.map(({ spec }) => this.#outcomes.get(spec.name)!);
    if (
      !outcomes.some(hasFailed) ||
      (this.#plan.allowsPartial && this.#plan.wanted.some((record) => this.#isUp(record)))
    )
      return outcomes;
    const failed = outcomes.filter(hasFailed);
    const { failure, name } = failed.find((outcome) => outcome.failure?.code !== "dependency_failed") ?? failed[0]!;
    const wasBuilt = this.#plan.wanted.some((record) => record.spec.name === name && !record.failure);
    throw wasBuilt ? failure : new StepFailed("build", failure);
  }

  /** A one-shot service serves no requests: a partial release is worth keeping only if another service is up. */
  #isUp({ spec }: ServiceRecord): boolean {
    const { status } = this.#outcomes.get(spec.name)!;
    return !spec.oneShot && (status === "healthy" || status === "unchanged");
  }

  #launch(record: ServiceRecord): void {
    const { name } = record.spec;
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const outcome = this.#bring(record, resolve)
      .catch((error: unknown) => this.#lost(record, this.#made(record), error))
      .then((result) => {
        this.#outcomes.set(name, result);
        return result;
      })
      .finally(resolve);
    // `answered` reports the error; until then the promise may have no handler.
    outcome.catch(() => {});
    this.#tasks.set(name, { started, outcome });
  }

  async #bring(record: ServiceRecord, hasStarted: () => void): Promise<Outcome> {
    const { name, oneShot } = record.spec;
    const former = this.#former(name);
    // Waits until all tasks are registered.
    await Promise.resolve();
    if (record.failure) return this.#failed(record, former, invalid(record.failure.code, record.failure.message));
    if (this.#moves.get(name) === "keep") return this.#unchanged(former!);
    const peers = await this.#dependencies(record);
    this.#signal.throwIfAborted();
    if (isSite(record.spec)) return this.#site(record);
    if (oneShot && !this.#plan.runsOneShots) return this.#notRunAgain(record, former);
    const beside = (former?.runs ?? false) && mayStandBeside(this.#plan, record);
    if (former?.service.instanceId && !beside) await this.#giveWay(name, former.service.instanceId);
    for (const gone of oustedBy(this.#plan, record)) await this.#giveWay(gone.service.name, gone.service.instanceId!);
    const instanceId = this.#made(record);
    this.#instances.set(name, instanceId);
    await this.#plan.report(name, { status: "starting", instanceId, error: null });
    const { deployment } = this.#plan;
    const placement = { deployment, record, instanceId, peers, unannounced: beside };
    const instance = await startService(this.#run.ports, placement);
    hasStarted();
    const started = this.#started(record, instanceId);
    const status = await awaitReady(this.#run, { ...started, instance }, this.#signal);
    if (status === "done") await this.#plan.report(name, { status });
    else logLine(this.#run, "health", `${sentenceName(record)} ${started.isPublic ? "answers" : "was started"}`);
    return { name, status, instanceId, instance, site: null, failure: null, beside };
  }

  /** Waits for the dependencies of a service, and returns their instances. */
  async #dependencies({ spec }: ServiceRecord): Promise<readonly Instance[]> {
    const found: Instance[] = [];
    for (const dependency of spec.dependsOn) {
      const outcome = await this.#dependency(dependency);
      if (outcome === "failed" && dependency.required) {
        const what = `${dependency.service}, which it depends on, did not come up`;
        throw invalid("dependency_failed", `Cannot start ${spec.name}: ${what}`);
      }
      const { service } = dependency;
      const instanceId = this.#outcomes.get(service)?.instanceId ?? this.#instances.get(service);
      const instance = instanceId ? await this.#run.ports.runtime.find(instanceId) : undefined;
      if (instance) found.push(instance);
    }
    return found;
  }

  async #dependency({ condition, service }: ServiceDependency): Promise<"up" | "failed"> {
    const task = this.#tasks.get(service);
    if (!task) return "up";
    if (condition === "service_started") {
      await task.started;
      return this.#outcomes.get(service)?.status === "failed" ? "failed" : "up";
    }
    return (await task.outcome).status === "failed" ? "failed" : "up";
  }

  async #unchanged({ record, service }: RunningService): Promise<Outcome> {
    const { name } = record.spec;
    const { instanceId } = service;
    if (instanceId && adoptedInstance(instanceId)) logLine(this.#run, "start", `${name} keeps its container`);
    await this.#plan.report(name, { status: "unchanged", instanceId, error: null });
    return { name, status: "unchanged", instanceId, site: null, failure: null, beside: false };
  }

  async #site(record: ServiceRecord): Promise<Outcome> {
    const { name } = record.spec;
    const site = siteFolder(record.spec) ?? "";
    await this.#plan.report(name, { status: "starting", instanceId: null, site, error: null });
    await refuseEmptySite(this.#run, filesOf(this.#plan.deployment, record), site);
    return { name, status: "healthy", instanceId: null, site, failure: null, beside: false };
  }

  async #notRunAgain(record: ServiceRecord, former: RunningService | undefined): Promise<Outcome> {
    const { name } = record.spec;
    logLine(this.#run, "start", `${name} ran for that release and is not run again by a rollback`);
    const isThere = former !== undefined && isSamePlace(this.#plan, former.service);
    const instanceId = isThere ? former.service.instanceId : null;
    await this.#plan.report(name, { status: "done", instanceId, error: null });
    return { name, status: "done", instanceId, site: null, failure: null, beside: false };
  }

  /** Removes a former instance first: two of one non-public service could conflict, for example over a volume. */
  async #giveWay(name: string, instanceId: string): Promise<void> {
    this.#gone.add(name);
    if (adoptedInstance(instanceId)) {
      logLine(this.#run, "start", `${name} gets a new container; its former one is stopped and stays on the server`);
    }
    await this.#run.ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
  }

  /** Removes a service that did not come up and restores its former version. Throws an error that concerns all. */
  async #lost(record: ServiceRecord, instanceId: string, error: unknown): Promise<Outcome> {
    const { name } = record.spec;
    if (!isOwnFailure(error) || this.#signal.aborted) {
      this.#stop.abort(error);
      throw error;
    }
    const started = this.#started(record, instanceId);
    await showOutput(this.#run, started);
    await this.#run.ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
    const former = this.#former(name);
    const isBack = former !== undefined && (!this.#gone.has(name) || (await this.#bringBack(former)));
    const outcome = this.#failed(record, former, error);
    const settled = isBack ? outcome : { ...outcome, instanceId: null };
    this.#outcomes.set(name, settled);
    if (this.#plan.wanted.length > 1) {
      logLine(this.#run, "health", error.message, "error");
      await this.#plan.report(name, {
        status: "failed",
        error: this.#run.writer.masked(error.message),
        instanceId: settled.instanceId,
      });
    }
    return settled;
  }

  /** The outcome of a failed service, which stays on its former version or has none. */
  #failed({ spec: { name } }: ServiceRecord, former: RunningService | undefined, failure: Failure): Outcome {
    const { instanceId = null, site = null } = former?.service ?? {};
    return { name, status: "failed", instanceId, site, failure, beside: false };
  }

  async #bringBack({ deployment, record, service }: RunningService): Promise<boolean> {
    const { name, oneShot } = record.spec;
    if (oneShot || service.instanceId === null) return false;
    try {
      const peers = await this.#peersOf(record);
      await startService(this.#run.ports, { deployment, record, instanceId: service.instanceId, peers });
      this.#gone.delete(name);
      return true;
    } catch (error) {
      if (!isOwnFailure(error)) throw error;
      logLine(this.#run, "health", `The former version of ${name} could not be restarted: ${error.message}`, "error");
      return false;
    }
  }

  async #peersOf({ spec }: ServiceRecord): Promise<readonly Instance[]> {
    const ids = spec.dependsOn.map(({ service }) => this.#former(service)?.service.instanceId);
    const found = await Promise.all(ids.map((id) => (id ? this.#run.ports.runtime.find(id) : undefined)));
    return found.filter((instance) => instance !== undefined);
  }

  #started(record: ServiceRecord, instanceId: string): Started {
    return { record, instanceId, isPublic: this.#plan.publicServices.has(record.spec.name) };
  }

  #made({ image, spec }: ServiceRecord): string {
    const { serverId } = this.#plan.deployment.plan;
    const inContainer = serverId === undefined ? "image" : { serverId };
    return instanceIdOf(this.#plan.owner, spec.name, image === null ? "folder" : inContainer);
  }

  #former(name: string): RunningService | undefined {
    return formerOf(this.#plan, name);
  }
}
