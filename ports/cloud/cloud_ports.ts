import type { CloudLinks } from "./cloud_links.ts";

/** The ports of the folder that the application stands on. */
export interface CloudPorts {
  readonly cloudLinks: CloudLinks;
}
