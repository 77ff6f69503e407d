import type { Secret } from "../../domain/secret.ts";

/** An organization's link to the hosted cloud, without its token. */
export interface CloudLink {
  readonly organizationId: string;
  readonly url: string;
  readonly updatedAt: Date;
}

/** Stores links to the hosted cloud, with their tokens encrypted at rest. */
export interface CloudLinks {
  find(organizationId: string): Promise<CloudLink | undefined>;
  token(organizationId: string): Promise<Secret | undefined>;
  put(link: CloudLink, token: Secret): Promise<void>;
  remove(organizationId: string): Promise<boolean>;
}
