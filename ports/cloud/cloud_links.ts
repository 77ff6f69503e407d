import type { Secret } from "../../domain/secret.ts";
import type { CloudAddress } from "./cloud_api.ts";

/** An organization's link to the hosted cloud, without its token. */
export interface CloudLink {
  readonly organizationId: string;
  readonly url: string;
  readonly updatedAt: Date;
}

/** Stores links to the hosted cloud, with their tokens encrypted at rest. */
export interface CloudLinks {
  find(organizationId: string): Promise<CloudLink | undefined>;
  /** Returns where the link leads, and the token that was stored together with exactly this address. */
  address(organizationId: string): Promise<CloudAddress | undefined>;
  put(link: CloudLink, token: Secret): Promise<void>;
  remove(organizationId: string): Promise<boolean>;
}
