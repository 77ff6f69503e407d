import { cloudUnreachable } from "../../domain/githost/cloud_unreachable.ts";
import type { CloudAddress } from "../../ports/cloud/cloud_api.ts";
import type { CloudGitHost } from "../../ports/cloud/cloud_git_host.ts";

/** A simulated cloud: answers with the addresses that a test sets, by the cloud's own address. */
export class MemoryCloudGitHost implements CloudGitHost {
  readonly urls = new Map<string, string>();

  async connectUrl({ url }: CloudAddress, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const known = this.urls.get(url);
    if (known === undefined) throw cloudUnreachable();
    return known;
  }
}
