import type { AppInstallation } from "../../domain/githost/app_installation.ts";

/** Stores the app installations that are connected to organizations. */
export interface AppInstallations {
  /** Oldest first. */
  list(organizationId: string): Promise<readonly AppInstallation[]>;
  find(id: number): Promise<AppInstallation | undefined>;
  /**
   * Connects an installation; one that the organization has already gets the new account and state, and stays connected
   * by the former user. Returns `false`, and changes nothing, if it belongs to another organization, even under a race.
   */
  connect(installation: AppInstallation): Promise<boolean>;
  /** Records whether the account has suspended the app. Returns `false` if there is no such installation. */
  suspend(id: number, suspended: boolean): Promise<boolean>;
  /** Returns `false` if there is no such installation. */
  remove(id: number): Promise<boolean>;
}
