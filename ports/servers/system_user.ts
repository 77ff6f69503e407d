/** An unprivileged user of this machine. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Finds the user to run programs as; `undefined` when this process is not root and therefore runs them as itself. */
export type FindSystemUser = () => Promise<SystemUser | undefined>;
