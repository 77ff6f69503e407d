import { Failure, invalidField, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { CloudLink, CloudLinks } from "../../ports/cloud/cloud_links.ts";
import { refusePrivateHost, type RefusePrivateHostPorts } from "../domains/refuse_private_host.ts";

/** Returns an organization's link to the hosted cloud, without its token; owners only. */
export function readCloudLink({ cloudLinks }: { readonly cloudLinks: CloudLinks }) {
  return async function (by: Principal): Promise<CloudLink> {
    demand(by, "organization:admin");
    const link = await cloudLinks.find(by.organizationId);
    if (!link) throw notFound("cloud link");
    return link;
  };
}

export interface SetCloudLinkPorts extends RefusePrivateHostPorts {
  readonly clock: Clock;
  readonly cloudLinks: CloudLinks;
}

/** Links an organization to the hosted cloud, replacing a former link; owners only. */
export function setCloudLink(ports: SetCloudLinkPorts) {
  const refusePrivate = refusePrivateHost(ports);
  return async function (by: Principal, input: { readonly url: string; readonly token: Secret }): Promise<CloudLink> {
    demand(by, "organization:admin");
    if (ports.mode === "cloud")
      throw new Failure("invalid", "cloud_mode", "Cannot link: this installation is itself the hosted cloud");
    const url = URL.canParse(input.url) ? new URL(input.url) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
      throw invalidField("url", "give the cloud's address, such as https://cloud.example.com");
    }
    await refusePrivate("url", url.hostname);
    if (!input.token.reveal().trim())
      throw invalidField("token", "give the token that the cloud made for this installation");
    const link = { organizationId: by.organizationId, url: url.href.replace(/\/$/, ""), updatedAt: ports.clock.now() };
    await ports.cloudLinks.put(link, input.token);
    return link;
  };
}

/** Removes an organization's link to the hosted cloud; owners only. */
export function removeCloudLink({ cloudLinks }: { readonly cloudLinks: CloudLinks }) {
  return async function (by: Principal): Promise<void> {
    demand(by, "organization:admin");
    if (!(await cloudLinks.remove(by.organizationId))) throw notFound("cloud link");
  };
}
