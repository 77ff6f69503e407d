import { NO_COMMIT } from "../../domain/deployments/commit.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { decideOnPush, type Push } from "../../domain/githost/push.ts";
import type { DeliveryDecision } from "../../domain/githost/webhook_delivery.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { DeploymentHistory } from "../../ports/deployments/deployment_history.ts";
import { linkedSource, type LinkedSourceSettings } from "../deployments/sources/linked_source.ts";
import { makeDeployment, type MakeDeploymentPorts, planOf } from "../deployments/make_deployment.ts";
import { carryOutOnce, type CarryOutOncePorts, type HostReport, isDecision } from "./carry_out_once.ts";
import { supersedeOlder } from "./supersede_older.ts";
import { servicesOf, type ServicesOfPorts } from "../projects/services_of.ts";

export interface DeployPushPorts extends MakeDeploymentPorts, LinkedSourceSettings, ServicesOfPorts, CarryOutOncePorts {
  readonly deploymentHistory: DeploymentHistory;
}

const IN_CLOUD = "The project runs in the cloud, which deploys its pushes itself: turn auto-deploy on there";

/** Enough to find the last push among deployments of other triggers. */
const LOOK_BACK = 50;

/** Returns the decision about a push that does nothing for a project; `undefined` if it has to be deployed. */
export function ignoredPush(push: Push, project: Project): DeliveryDecision | undefined {
  if (project.location === "cloud") return { ...aboutPush(push, project), decision: "ignored", reason: IN_CLOUD };
  const decided = decideOnPush(push, project.settings);
  if (decided.decision === "deploy") return undefined;
  return { ...aboutPush(push, project), decision: "ignored", reason: decided.reason };
}

function aboutPush({ ref, after }: Push, { id, organizationId }: Project) {
  const branch = ref.replace(/^refs\/(heads|tags)\//, "");
  return { projectId: id, organizationId, branch, commitSha: after, deploymentId: null };
}

/**
 * Deploys the commit of a push, once however often it is reported, and supersedes older pushes of the branch that still
 * wait. Anything that speaks against it is a decision with its reason.
 */
export function deployPush(ports: DeployPushPorts) {
  const make = makeDeployment(ports);
  const findServices = servicesOf(ports);
  const once = carryOutOnce(ports);
  return async function (push: Push, project: Project): Promise<DeliveryDecision> {
    const ignored = ignoredPush(push, project);
    if (ignored) return ignored;
    const about = aboutPush(push, project);
    const { branch } = about;
    try {
      const last = await lastPush(project, branch);
      if ((last?.pushedAt ?? 0) > (push.pushedAt ?? Infinity))
        return { ...about, decision: "superseded", reason: "A newer push of the branch was reported before this one" };
      // The same commit was queued by a process that was killed before it could note that.
      const deployment =
        last?.commitSha === push.after
          ? undefined
          : await once(reportOf(push, project), () => queued(push, project, branch));
      if (!deployment) return { ...about, decision: "ignored", reason: "This push was reported before" };
      await supersedeOlder(ports, deployment);
      return { ...about, deploymentId: deployment.id, decision: "deployed", reason: `Pushed to "${branch}"` };
    } catch (error) {
      if (!isDecision(error)) throw error;
      return { ...about, decision: "failed", reason: error.message };
    }
  };

  async function lastPush({ id: projectId, organizationId }: Project, branch: string): Promise<Deployment | undefined> {
    const filter = { projectId, branch, environment: "production" } as const;
    const { items } = await ports.deploymentHistory.list(organizationId, filter, { page: 1, perPage: LOOK_BACK });
    return items.find(({ deployment }) => deployment.trigger === "push")?.deployment;
  }

  async function queued(push: Push, project: Project, branch: string): Promise<Deployment> {
    const environment = "production";
    const given = await findServices(project, { environment });
    const { source } = linkedSource(ports, project, { given, branch });
    const commit = { ...NO_COMMIT, commitSha: push.after, commitMessage: push.message };
    return make(project, {
      source: source.kind === "git" ? { ...source, commit: push.after } : source,
      branch,
      commit,
      trigger: "push",
      environment,
      pushedAt: push.pushedAt,
      plan: planOf(project),
      ...(given && { given }),
    });
  }
}

function reportOf({ repository, ref, before, after, pushedAt }: Push, { id }: Project): HostReport {
  return { event: "push", repository, key: `${id} ${ref} ${before} ${after} ${pushedAt ?? ""}` };
}
