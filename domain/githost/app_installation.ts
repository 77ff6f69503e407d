import type { GitAccount } from "./repository.ts";

/** An installation of the git host's app on one account, as the host describes it. */
export interface HostInstallation {
  readonly id: number;
  readonly account: GitAccount;
  readonly createdAt: Date;
  readonly suspended: boolean;
}

/** An installation that is connected to an organization. */
export interface AppInstallation extends Omit<HostInstallation, "createdAt"> {
  readonly organizationId: string;
  readonly connectedBy: string;
  readonly connectedAt: Date;
}
