import type { DeployKey, PinnedHostKey, StoredDeployKey } from "../../domain/projects/deploy_key.ts";
import type { Secret } from "../../domain/secret.ts";

/**
 * Stores the deploy key of each project, its private part encrypted at rest, with the host keys pinned for it. All of it
 * is removed with the project.
 */
export interface DeployKeys {
  find(projectId: string): Promise<StoredDeployKey | undefined>;
  /** Returns the private part, in OpenSSH's format. */
  privateKey(projectId: string): Promise<Secret | undefined>;
  /**
   * Stores the key of a project. Returns `false`, and changes nothing, when it has one already and `replace` is not
   * set, even under a race. A replaced key keeps the pinned host keys. Rejects when the project does not exist.
   */
  put(key: DeployKey, privateKey: Secret, options?: { readonly replace?: boolean }): Promise<boolean>;
  /** Removes the key of a project with the pinned host keys. Returns `false` when there is none. */
  remove(projectId: string): Promise<boolean>;
  /**
   * Pins the key of a host and returns the pinned one: the first that was pinned, even under a race. Pins nothing and
   * returns `undefined` when the project has no deploy key.
   */
  pinHostKey(projectId: string, hostKey: PinnedHostKey): Promise<PinnedHostKey | undefined>;
  /** Unpins the key of a host. Returns `false` when none is pinned. */
  forgetHostKey(projectId: string, host: string): Promise<boolean>;
}
