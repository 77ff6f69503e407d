import type { CloudAddress } from "../../ports/cloud/cloud_api.ts";
import type { CloudLink, CloudLinks } from "../../ports/cloud/cloud_links.ts";

export interface FindCloudPorts {
  readonly cloudLinks: CloudLinks;
  /** The link that the operator set for the whole installation. */
  readonly cloudPreset: CloudAddress | undefined;
}

/** Returns the cloud that an organization is linked to: by a link of its own, else by that of the installation. */
export function findCloud(ports: FindCloudPorts) {
  const find = findLink(ports);
  return async function (organizationId: string): Promise<CloudAddress | undefined> {
    return (await find(organizationId)).cloud;
  };
}

/** Returns the cloud that an organization is linked to, with its own link if it has one. */
export function findLink({ cloudLinks, cloudPreset }: FindCloudPorts) {
  return async function (organizationId: string): Promise<FoundLink> {
    const link = await cloudLinks.find(organizationId);
    const token = link && (await cloudLinks.token(organizationId));
    return link && token ? { link, cloud: { url: link.url, token } } : { link: undefined, cloud: cloudPreset };
  };
}

/** A cloud, and the organization's own link to it. */
export interface FoundLink {
  readonly cloud: CloudAddress | undefined;
  readonly link: CloudLink | undefined;
}
