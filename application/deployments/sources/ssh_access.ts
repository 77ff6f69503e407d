import { pinnedHostKey } from "../../../domain/projects/deploy_key.ts";
import type { Project } from "../../../domain/projects/project.ts";
import { sshHost } from "../../../domain/projects/ssh_host.ts";
import type { DeployKeys } from "../../../ports/projects/deploy_keys.ts";
import type { FetchableSource, SshAccess } from "../../../ports/projects/sources.ts";
import type { Clock } from "../../../ports/system/clock.ts";

export interface SshAccessPorts {
  readonly clock: Clock;
  readonly deployKeys: DeployKeys;
}

/**
 * Returns how a project's source is fetched over SSH; `undefined` for other sources. The deploy key is only for the
 * server of the project's `gitUrl`, which may have changed since a deployment that is built again.
 */
export async function sshAccess(
  { clock, deployKeys }: SshAccessPorts,
  { id, settings }: Pick<Project, "id" | "settings">,
  source: FetchableSource,
): Promise<SshAccess | undefined> {
  const host = source.kind === "git" ? sshHost(source.url) : undefined;
  if (host === undefined) return undefined;
  const deployKeyPath = `/api/projects/${id}/deploy-key`;
  if (host !== sshHost(settings.gitUrl ?? "")) return { deployKeyPath };
  const [key, privateKey] = [await deployKeys.find(id), await deployKeys.privateKey(id)];
  if (!key || !privateKey) return { deployKeyPath };
  return {
    deployKeyPath,
    login: {
      privateKey,
      publicKey: key.publicKey,
      hostKeys: key.hostKeys,
      async pinHostKey(name, presented) {
        const hostKey = pinnedHostKey(name, presented, clock.now());
        return hostKey && deployKeys.pinHostKey(id, hostKey);
      },
    },
  };
}
