import { cloudAway, cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import { cloudRequestHeaders, cloudResponseHeaders } from "../../domain/cloud/passed_headers.ts";
import type { CloudAddress, CloudApi, CloudRequest } from "../../ports/cloud/cloud_api.ts";

/** A simulated cloud: functions that tests set answer, by the cloud's own address. */
export class MemoryCloudApi implements CloudApi {
  readonly clouds = new Map<string, (request: Request) => Response | Promise<Response>>();

  async send({ url, token }: CloudAddress, request: CloudRequest): Promise<Response> {
    const { method, path, body = null, actingMember, signal } = request;
    signal.throwIfAborted();
    const cloud = this.clouds.get(url);
    if (!cloud) throw cloudAway();
    const headers = cloudRequestHeaders(request.headers, { token, actingMember });
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort);
    try {
      const answer = cloud(new Request(`${url}${path}`, { method, headers, body, signal }));
      const { status, headers: given, body: text } = await Promise.race([answer, aborted.promise]);
      if (status >= 300 && status < 400) throw cloudUnreadable();
      return new Response(text, { status, headers: cloudResponseHeaders(given) });
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}
