import type { ApplicationPorts } from "../application_ports.ts";
import { deployToCloud } from "./deploy_to_cloud.ts";
import { forwardDeployment } from "./forward_deployment.ts";
import { listCloudDeployments } from "./list_cloud_deployments.ts";
import { readCloudLink, removeCloudLink, setCloudLink } from "./cloud_link.ts";
import { removeFromCloud } from "./remove_from_cloud.ts";

export type CloudUseCases = ReturnType<typeof cloudUseCases>;

/** The use cases of the link to the hosted cloud. */
export function cloudUseCases(ports: ApplicationPorts) {
  return {
    deployToCloud: deployToCloud(ports),
    forwardDeployment: forwardDeployment(ports),
    listCloudDeployments: listCloudDeployments(ports),
    readCloudLink: readCloudLink(ports),
    removeFromCloud: removeFromCloud(ports),
    removeCloudLink: removeCloudLink(ports),
    setCloudLink: setCloudLink(ports),
  };
}
