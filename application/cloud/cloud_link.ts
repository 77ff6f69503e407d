import { Failure, invalidField, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { CloudApi } from "../../ports/cloud/cloud_api.ts";
import type { CloudLinks } from "../../ports/cloud/cloud_links.ts";
import { checkLink, type LinkState, linkState } from "./check_link.ts";
import { findCloud, type FindCloudPorts } from "./find_cloud.ts";
import { refusePrivateHost, type RefusePrivateHostPorts } from "../domains/refuse_private_host.ts";

/** A link as its owner sees it. */
export interface ReadCloudLink {
  readonly url: string;
  /** Whether the organization has set it, or the operator for the whole installation. */
  readonly source: "organization" | "installation";
  readonly state: LinkState;
  readonly updatedAt: Date | null;
}

export interface ReadCloudLinkPorts extends FindCloudPorts {
  readonly cloudApi: CloudApi;
}

/** Returns an organization's link to the hosted cloud, without its token, and whether it works; owners only. */
export function readCloudLink(ports: ReadCloudLinkPorts) {
  const find = findCloud(ports);
  const stateOf = linkState(ports);
  return async function (by: Principal, signal: AbortSignal): Promise<ReadCloudLink> {
    demand(by, "organization:admin");
    const { organizationId } = by;
    const [cloud, link] = await Promise.all([find(organizationId), ports.cloudLinks.find(organizationId)]);
    if (!cloud) throw notFound("cloud link");
    const source = link ? "organization" : "installation";
    return { url: cloud.url, source, state: await stateOf(cloud, signal), updatedAt: link?.updatedAt ?? null };
  };
}

export interface SetCloudLinkPorts extends RefusePrivateHostPorts {
  readonly clock: Clock;
  readonly cloudApi: CloudApi;
  readonly cloudLinks: CloudLinks;
}

/**
 * Links an organization to the hosted cloud, replacing a former link; owners only. Stores nothing unless the cloud
 * accepts the token.
 */
export function setCloudLink(ports: SetCloudLinkPorts) {
  const refusePrivate = refusePrivateHost(ports);
  const check = checkLink(ports);
  return async function (
    by: Principal,
    input: { readonly url: string; readonly token: Secret },
    signal: AbortSignal,
  ): Promise<ReadCloudLink> {
    demand(by, "organization:admin");
    if (ports.mode === "cloud")
      throw new Failure("invalid", "cloud_mode", "Cannot link: this installation is itself the hosted cloud");
    const url = URL.canParse(input.url) ? new URL(input.url) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
      throw invalidField("url", "give the cloud's address, such as https://cloud.example.com");
    }
    await refusePrivate("url", url.hostname);
    if (!/^[\x21-\x7e]+$/.test(input.token.reveal()))
      throw invalidField("token", "give the token that the cloud made for this installation");
    const link = { organizationId: by.organizationId, url: url.href.replace(/\/$/, ""), updatedAt: ports.clock.now() };
    await check({ url: link.url, token: input.token }, signal);
    await ports.cloudLinks.put(link, input.token);
    return { url: link.url, source: "organization", state: "linked", updatedAt: link.updatedAt };
  };
}

/** Removes an organization's link to the hosted cloud; owners only. */
export function removeCloudLink({ cloudLinks }: { readonly cloudLinks: CloudLinks }) {
  return async function (by: Principal): Promise<void> {
    demand(by, "organization:admin");
    if (!(await cloudLinks.remove(by.organizationId))) throw notFound("cloud link");
  };
}
