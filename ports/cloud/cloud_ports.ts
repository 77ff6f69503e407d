import type { CloudApi } from "./cloud_api.ts";
import type { CloudGitHost } from "./cloud_git_host.ts";
import type { CloudLinks } from "./cloud_links.ts";

/** The cloud ports that the application depends on. */
export interface CloudPorts {
  readonly cloudApi: CloudApi;
  readonly cloudGitHost: CloudGitHost;
  readonly cloudLinks: CloudLinks;
}
