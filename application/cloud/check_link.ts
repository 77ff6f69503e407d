import { cloudRefused, notCloud, notLinkToken } from "../../domain/cloud/cloud_failures.ts";
import { Failure } from "../../domain/failure.ts";
import type { CloudAddress, CloudApi } from "../../ports/cloud/cloud_api.ts";
import { cloudAnswer } from "./cloud_answer.ts";

/** Whether a link works: the cloud may be away, or refuse the token of the link. */
export type LinkState = "linked" | "unreachable" | "refused";

const LIMIT_MS = 3_000;

/** Rejects with a `Failure` unless there is a cloud at an address that accepts the token as that of a link. */
export function checkLink({ cloudApi }: { readonly cloudApi: CloudApi }) {
  return async function (cloud: CloudAddress, signal: AbortSignal): Promise<void> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    const asked = async (path: string) => {
      const response = await cloudApi.send(cloud, { method: "GET", path, limitMs: LIMIT_MS, signal: limited });
      return cloudAnswer(response);
    };
    // Anything but a cloud could be linked to a cloud itself, and requests would go in circles.
    const { mode } = await asked("/api/health").catch(otherwise(notCloud));
    if (mode !== "cloud") throw notCloud();
    const { data } = await asked("/api/auth/me").catch(otherwise(cloudRefused));
    if (!isLink(data)) throw notLinkToken();
  };
}

/** Tells whether a link works, within seconds. */
export function linkState(ports: { readonly cloudApi: CloudApi }) {
  const check = checkLink(ports);
  return async function (cloud: CloudAddress, signal: AbortSignal): Promise<LinkState> {
    try {
      await check(cloud, signal);
      return "linked";
    } catch (error) {
      signal.throwIfAborted();
      return error instanceof Failure && error.kind !== "unavailable" ? "refused" : "unreachable";
    }
  };
}

/** Replaces what a cloud answers by a failure of ours; that it does not answer stays. */
function otherwise(failure: () => Failure): (error: unknown) => never {
  return (error) => {
    throw error instanceof Failure && error.kind !== "unavailable" ? failure() : error;
  };
}

function isLink(data: unknown): boolean {
  const credential = typeof data === "object" && data !== null && "credential" in data ? data.credential : undefined;
  return typeof credential === "object" && credential !== null && "link" in credential && credential.link === true;
}
