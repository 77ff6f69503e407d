import { cloudUnreachable } from "../../domain/githost/cloud_unreachable.ts";
import type { CloudAddress } from "../../ports/cloud/cloud_api.ts";
import type { CloudGitHost } from "../../ports/cloud/cloud_git_host.ts";

const LIMIT_MS = 3_000;

/** Asks the hosted cloud over its API. */
export class HttpCloudGitHost implements CloudGitHost {
  async connectUrl({ url, token }: CloudAddress, signal: AbortSignal): Promise<string> {
    try {
      const response = await fetch(`${url}/api/githost/connect`, {
        method: "POST",
        headers: { authorization: `Bearer ${token.reveal()}`, "content-type": "application/json" },
        body: "{}",
        // The token must not follow a redirect to another host.
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
      });
      const answer: unknown = await response.json();
      if (response.ok && hasUrl(answer)) return answer.url;
    } catch (cause) {
      signal.throwIfAborted();
      throw cloudUnreachable({ cause });
    }
    throw cloudUnreachable();
  }
}

function hasUrl(answer: unknown): answer is { readonly url: string } {
  if (typeof answer !== "object" || answer === null || !("url" in answer)) return false;
  return typeof answer.url === "string" && /^https?:$/.test(URL.parse(answer.url)?.protocol ?? "");
}
