import type { ApplicationPorts } from "../application_ports.ts";
import { readCloudLink, removeCloudLink, setCloudLink } from "./cloud_link.ts";

export type CloudUseCases = ReturnType<typeof cloudUseCases>;

/** The use cases of the cloud link. */
export function cloudUseCases(ports: ApplicationPorts) {
  return {
    readCloudLink: readCloudLink(ports),
    removeCloudLink: removeCloudLink(ports),
    setCloudLink: setCloudLink(ports),
  };
}
