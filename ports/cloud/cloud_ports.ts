import type { CloudLinks } from "./cloud_links.ts";

/** The cloud ports that the application depends on. */
export interface CloudPorts {
  readonly cloudLinks: CloudLinks;
}
