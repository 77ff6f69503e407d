/** An unprivileged user of this machine. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Finds the user that programs are to run as; `undefined` when this process is not root, and so runs them as itself. */
export type FindSystemUser = () => Promise<SystemUser | undefined>;
