import { usesContainers } from "../../domain/deployment/instance_id.ts";
import { Failure, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/permission.ts";
import type { Project } from "../../domain/project.ts";
import type { Projects } from "../../ports/projects.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { cancelAll, type CancelAllPorts } from "../deployments/cancel_all.ts";
import { stopInstances } from "../deployments/stop_instances.ts";
import { stopServing, type StopServingPorts } from "../deployments/stop_serving.ts";
import { answerInTime, type AnswerInTimePorts } from "../requests/answer_in_time.ts";
import { findProject } from "./find_project.ts";

export interface RemoveProjectPorts extends CancelAllPorts, StopServingPorts, AnswerInTimePorts {
  readonly projects: Projects;
  readonly runtime: Runtime;
}

/**
 * Removes a project with its variables, names and deployments. Resolves once nothing of it serves any more: what is
 * being carried out has ended, no edge of any process leads to it, and its instances are stopped. Rejects with an
 * `unavailable` failure, code `removal_takes_long`, when that takes longer than an answer may; whoever asks again
 * meanwhile waits for the same removal.
 */
export function removeProject(ports: RemoveProjectPorts) {
  const { deployments, projects, runtime } = ports;
  const find = findProject(ports);
  const endAll = cancelAll(ports);
  const inTime = answerInTime(ports);
  const underWay = new Map<string, Promise<void>>();
  return async function (by: Principal, id: string): Promise<void> {
    const project = await find(by, id, "project:admin");
    let removal = underWay.get(id);
    if (!removal) {
      removal = remove(project).finally(() => underWay.delete(id));
      underWay.set(id, removal);
    }
    await inTime(removal, takesLong);
  };

  async function remove({ id, organizationId }: Project): Promise<void> {
    // Whoever carries a deployment out leads visitors to it at the end, and has to be done with it before.
    await endAll(id);
    const all = await deployments.ofProject(id);
    const previews = all.filter(({ environment }) => environment === "preview");
    if (!(await projects.remove(organizationId, id))) throw notFound("project");
    // A killed server leaves the rest to the sweep.
    const instances = await runtime.list({ containers: all.some(usesContainers) });
    const own = instances.filter(({ projectId }) => projectId === id);
    await Promise.all([stopServing(ports, [id, ...previews.map((preview) => preview.id)]), stopInstances(ports, own)]);
  }
}

function takesLong(): Failure {
  const message =
    "Cannot say yet that nothing of the project serves any more: some of it takes long to stop. The removal goes on by itself; the project is gone when it cannot be found";
  return new Failure("unavailable", "removal_takes_long", message, { retryAfter: 10 });
}
