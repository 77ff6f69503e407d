/** Stores what an organization has chosen about the sources of the git host. */
export interface GitHostChoices {
  /** Returns whether the organization has disconnected from the command-line client. */
  isCommandLineOff(organizationId: string): Promise<boolean>;
  setCommandLineOff(organizationId: string, off: boolean): Promise<void>;
}
