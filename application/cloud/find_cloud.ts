import type { CloudAddress } from "../../ports/cloud/cloud_api.ts";
import type { CloudLinks } from "../../ports/cloud/cloud_links.ts";

export interface FindCloudPorts {
  readonly cloudLinks: CloudLinks;
  /** The link that the operator set for the whole installation. */
  readonly cloudPreset: CloudAddress | undefined;
}

/** Returns the cloud that an organization is linked to: by a link of its own, else by that of the installation. */
export function findCloud({ cloudLinks, cloudPreset }: FindCloudPorts) {
  return async function (organizationId: string): Promise<CloudAddress | undefined> {
    return (await cloudLinks.address(organizationId)) ?? cloudPreset;
  };
}
