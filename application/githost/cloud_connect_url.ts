import type { CloudGitHost } from "../../ports/cloud/cloud_git_host.ts";
import { findCloud, type FindCloudPorts } from "../cloud/find_cloud.ts";

export interface CloudConnectPorts extends FindCloudPorts {
  readonly cloudGitHost: CloudGitHost;
}

/** Asks the cloud that an organization is linked to for the address to connect the git host; `undefined` without a link. */
export async function cloudConnectUrl(
  ports: CloudConnectPorts,
  organizationId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const cloud = await findCloud(ports)(organizationId);
  return cloud && ports.cloudGitHost.connectUrl(cloud, signal);
}
