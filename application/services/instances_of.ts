import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { adoptedInstance } from "../../domain/deployments/instance_id.ts";
import { SOLE_SERVICE } from "../../domain/services/sole_service.ts";
import { howItEnded } from "../../domain/deployments/ending.ts";
import { Failure, invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { variablesFor } from "../../domain/projects/service_variables.ts";
import { sameValues } from "../../domain/projects/variable.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";
import type { Instance, InstanceUsage, Runtime } from "../../ports/services/runtime.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import { answerInTime, type AnswerInTimePorts } from "../system/answer_in_time.ts";
import { deploymentVariables } from "../deployments/deployment_variables.ts";
import { findDeployment } from "../deployments/find_deployment.ts";
import { isStopped } from "./ensure_services.ts";
import { oneShotsOf } from "./one_shots_of.ts";

const GRACE_MS = 10_000;
const LOOK_MS = 50;

export interface InstancePorts {
  readonly deployments: Deployments;
  readonly runtime: Runtime;
  readonly serviceSets: ServiceSets;
}

/** Returns the running instances of a deployment. */
export function describeInstances(ports: InstancePorts) {
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
  ): Promise<{ readonly deployment: Deployment; readonly instances: readonly Instance[] }> {
    const deployment = await find(by, id, "deployment:read");
    return { deployment, instances: await running(ports, deployment) };
  };
}

/** Returns the current resource usage of a deployment's instances. */
export function measureInstances(ports: InstancePorts) {
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
  ): Promise<readonly { readonly name: string; readonly usage: InstanceUsage }[]> {
    const instances = await running(ports, await find(by, id, "deployment:read"));
    const usages = await Promise.all(
      instances.map(async ({ service: name, instanceId }) => ({ name, usage: await ports.runtime.usage(instanceId) })),
    );
    return usages.flatMap(({ name, usage }) => (usage ? [{ name, usage }] : []));
  };
}

export interface RestartInstancesPorts extends InstancePorts, AnswerInTimePorts {
  readonly liveReleases: LiveReleases;
  readonly variables: Variables;
}

export interface Restart {
  /** Number of services that were restarted. */
  readonly restarted: number;
  /** Whether the project's variables for the services now differ from those that they run with. */
  readonly variablesChanged: boolean;
}

/**
 * Restarts the running instances of the live deployment, concurrently, at the same addresses and with the variables of
 * the deployment; resolves once all are up again. Instances that a later deployment has taken over belong to that one.
 * Rejects with an `invalid` failure, code `restart_failed`, when one exits instead, and with an `unavailable` one, code
 * `restart_takes_long`, when that exceeds the response timeout; a repeated request meanwhile waits for the same
 * restart.
 */
export function restartInstances(ports: RestartInstancesPorts) {
  const find = findDeployment(ports);
  const inTime = answerInTime(ports);
  const underWay = new Map<string, Promise<number>>();
  return async function (by: Principal, id: string): Promise<Restart> {
    const deployment = await find(by, id, "deployment:write");
    if (isStatic(deployment)) throw nothingRuns("a static site has nothing to restart. Redeploy it to rebuild it");
    const [used, present] = await Promise.all([
      ports.deployments.environment(id),
      deploymentVariables(ports, deployment),
    ]);
    let restart = underWay.get(id);
    if (!restart) {
      restart = restartAll(deployment).finally(() => underWay.delete(id));
      underWay.set(id, restart);
    }
    const variablesChanged = deployment.services.some(
      ({ name }) => !sameValues(variablesFor(used, name), variablesFor(present.values, name)),
    );
    return { restarted: await inTime(restart, takesLong), variablesChanged };
  };

  async function restartAll(deployment: Deployment): Promise<number> {
    const live = await ports.liveReleases.find(scopeOf(deployment));
    const instances = live?.deployment.id === deployment.id ? await running(ports, deployment) : [];
    // Services that exited by themselves are complete.
    const lasting = instances.filter(({ exit, status }) => status !== "exited" || exit?.reason !== "exited");
    if (lasting.length === 0) throw nothingRuns("nothing of this deployment runs. Roll back to it to start it again");
    const outcomes = await Promise.allSettled(lasting.map(({ instanceId }) => restarted(ports, instanceId)));
    const failed = outcomes.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    return lasting.length;
  }
}

/** Restarts one instance and waits until it is up. */
async function restarted({ runtime }: InstancePorts, instanceId: string): Promise<void> {
  const begun = await runtime.restart(instanceId, { graceMs: GRACE_MS });
  for (let instance: Instance | undefined = begun; ; instance = await runtime.find(instanceId)) {
    if (!instance) throw notFound("instance");
    const hasEnded = instance.restarts > begun.restarts || ["restarting", "exited"].includes(instance.status);
    if (hasEnded) throw endedAgain(instance);
    if (instance.status === "running") return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function endedAgain({ exit, service }: Instance): Failure {
  const name = service === SOLE_SERVICE ? "this" : service;
  return invalid(
    "restart_failed",
    `Cannot restart ${name}: it ${howItEnded(exit)}. It is restarted automatically; its runtime log says more`,
  );
}

function takesLong(): Failure {
  const message =
    "Cannot confirm yet that everything was restarted: some services take long to stop. The restart continues in the background; read /info in a moment";
  return new Failure("unavailable", "restart_takes_long", message, { retryAfter: 10 });
}

function isStatic({ services }: Deployment): boolean {
  return services.length > 0 && services.every(({ site }) => site !== null);
}

function nothingRuns(why: string): Failure {
  return invalid("nothing_runs", `Cannot restart: ${why}`);
}

/**
 * Returns the instances of a deployment. An engine cannot tell an adopted job that ran to its end from a service that was
 * stopped, but the record of the service can.
 */
async function running(ports: InstancePorts, deployment: Deployment): Promise<readonly Instance[]> {
  const ids = deployment.services.flatMap(({ instanceId }) => instanceId ?? []);
  const found = await Promise.all(ids.map((instanceId) => ports.runtime.find(instanceId)));
  const instances = found.filter((instance) => instance !== undefined);
  if (!instances.some(isStoppedAdopted)) return instances;
  const oneShots = await oneShotsOf(ports, deployment);
  return instances.map((instance) => {
    if (!isStoppedAdopted(instance) || !oneShots.has(instance.service)) return instance;
    return { ...instance, exit: { ...instance.exit!, reason: "exited" } };
  });
}

function isStoppedAdopted(instance: Instance): boolean {
  return isStopped(instance) && adoptedInstance(instance.instanceId) !== undefined;
}
