import type { ApplicationPorts } from "../application_ports.ts";
import { followOutput } from "./follow_output.ts";
import { describeInstances, measureInstances, restartInstances } from "./instances_of.ts";
import { listVolumes } from "./list_volumes.ts";

export type ServiceUseCases = ReturnType<typeof serviceUseCases>;

/** The use cases of the services of deployments. */
export function serviceUseCases(ports: ApplicationPorts) {
  return {
    describeInstances: describeInstances(ports),
    followOutput: followOutput(ports),
    listVolumes: listVolumes(ports),
    measureInstances: measureInstances(ports),
    restartInstances: restartInstances(ports),
  };
}
