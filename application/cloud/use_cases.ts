import type { ApplicationPorts } from "../application_ports.ts";
import { readCloudLink, removeCloudLink, setCloudLink } from "./cloud_link.ts";

export type CloudUseCases = ReturnType<typeof cloudUseCases>;

/** Everything that callers can do with the link to a cloud. */
export function cloudUseCases(ports: ApplicationPorts) {
  return {
    readCloudLink: readCloudLink(ports),
    removeCloudLink: removeCloudLink(ports),
    setCloudLink: setCloudLink(ports),
  };
}
