import { conflict } from "../../domain/failure.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import type { GitRepositories } from "../../ports/githost/git_repositories.ts";
import type { GitHostSettings } from "./git_host_settings.ts";
import { checkVisible, type ReachRepositoryPorts } from "./reach_repository.ts";

export interface MintCloneTokenPorts extends ReachRepositoryPorts {
  readonly gitHost: GitHostSettings;
  readonly gitRepositories: GitRepositories;
}

/** A token for one repository, with the address that it is for. */
export interface CloneToken {
  readonly token: Secret;
  readonly cloneUrl: string;
  readonly expiresAt: Date;
}

/** Mints a token that can only clone one repository, for less than an hour. Needs the app on the repository's owner. */
export function mintCloneToken(ports: MintCloneTokenPorts) {
  const check = checkVisible(ports);
  return async function (by: Principal, name: RepositoryName, signal: AbortSignal): Promise<CloneToken> {
    await check(by, { name, permission: "githost:read" });
    const installations = await ports.appInstallations.list(by.organizationId);
    const installation = installations.find(
      ({ account, suspended }) => !suspended && account.login.toLowerCase() === name.owner.toLowerCase(),
    );
    if (!installation) {
      const sentence = `Cannot make a clone token: the app is not installed for "${name.owner}". Install it first`;
      throw conflict("no_installation", sentence);
    }
    const minted = await ports.gitRepositories.cloneToken(installation.id, name, signal);
    return { ...minted, cloneUrl: `${ports.gitHost.webUrl}/${fullName(name)}.git` };
  };
}
