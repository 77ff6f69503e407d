import type { CloudAddress } from "../../ports/cloud/cloud_api.ts";
import type { CloudGitHost } from "../../ports/cloud/cloud_git_host.ts";
import type { CloudLinks } from "../../ports/cloud/cloud_links.ts";

export interface CloudConnectPorts {
  readonly cloudGitHost: CloudGitHost;
  readonly cloudLinks: CloudLinks;
  /** The link that the operator set for the whole installation. */
  readonly cloudPreset: CloudAddress | undefined;
}

/** Asks the cloud that an organization is linked to for the address to connect the git host; `undefined` without a link. */
export async function cloudConnectUrl(
  { cloudGitHost, cloudLinks, cloudPreset }: CloudConnectPorts,
  organizationId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const link = await cloudLinks.find(organizationId);
  const token = link && (await cloudLinks.token(organizationId));
  const cloud = link && token ? { url: link.url, token } : cloudPreset;
  return cloud && cloudGitHost.connectUrl(cloud, signal);
}
