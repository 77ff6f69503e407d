import type { ApplicationPorts } from "../application_ports.ts";
import { cancelDeployment } from "./cancel_deployment.ts";
import { keepDeployment, rejectDeployment } from "./decide_deployment.ts";
import { deployProject } from "./deploy_project.ts";
import { followDeployment } from "./follow_deployment.ts";
import { pinDeployment } from "./pin_deployment.ts";
import { prepareSource } from "./prepare_source.ts";
import { promote } from "./promote.ts";
import { downloadLogs, readLogs } from "./read_logs.ts";
import { redeploy, rollback } from "./redeploy.ts";
import { removeDeployment } from "./remove_deployment.ts";
import { respondToPrompt } from "./respond_to_prompt.ts";
import { startBuild } from "./start_build.ts";
import { showDeployment, viewBuild, viewDeployment, viewDeployments } from "./view_deployment.ts";

export type DeploymentUseCases = ReturnType<typeof deploymentUseCases>;

/** All use cases of deployments. */
export function deploymentUseCases(ports: ApplicationPorts) {
  return {
    cancelDeployment: cancelDeployment(ports),
    deployProject: deployProject(ports),
    downloadLogs: downloadLogs(ports),
    followDeployment: followDeployment(ports),
    keepDeployment: keepDeployment(ports),
    pinDeployment: pinDeployment(ports),
    prepareSource: prepareSource(ports),
    promote: promote(ports),
    readLogs: readLogs(ports),
    redeploy: redeploy(ports),
    rejectDeployment: rejectDeployment(ports),
    removeDeployment: removeDeployment(ports),
    respondToPrompt: respondToPrompt(ports),
    rollback: rollback(ports),
    showDeployment: showDeployment(ports),
    startBuild: startBuild(ports),
    viewBuild: viewBuild(ports),
    viewDeployment: viewDeployment(ports),
    viewDeployments: viewDeployments(ports),
  };
}
