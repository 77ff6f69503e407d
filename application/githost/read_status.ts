import { seesRepository } from "../../domain/githost/repository_visibility.ts";
import type { GitAccount, GitHostSource, RepositoryName } from "../../domain/githost/repository.ts";
import { allows, type Principal } from "../../domain/identity/permission.ts";
import { fingerprint } from "../../domain/identity/token.ts";
import { cloudConnectUrl, type CloudConnectPorts } from "./cloud_connect_url.ts";
import { connectState, type ConnectStatePorts } from "./connect_state.ts";
import { type ConnectionState, connectionState, type ConnectionStatePorts } from "./connection_state.ts";
import type { GitHostSettings } from "./git_host_settings.ts";
import { installUrl } from "./host_urls.ts";
import { allRepositories, type ListRepositoriesPorts, type SourcedRepository } from "./list_repositories.ts";
import { throughAll } from "./through_all.ts";
import { isLoginExpired, type UsableSource, usableSources } from "./usable_sources.ts";

export interface ReadStatusPorts
  extends ConnectionStatePorts, ListRepositoriesPorts, CloudConnectPorts, ConnectStatePorts {
  readonly gitHost: GitHostSettings;
}

/** An account, with the source that shows it. */
export interface SourcedAccount extends GitAccount {
  readonly source: GitHostSource;
}

/** The connection with the git host. */
export interface GitHostStatus {
  readonly state: ConnectionState;
  readonly accounts: readonly SourcedAccount[];
  /** Where the app is installed, for ten minutes and this member; `null` where that is not possible. */
  readonly installUrl: string | null;
  readonly cloudUnreachable: boolean;
}

/** Returns the state of the connection with the accounts that the member may see. */
export function readStatus(ports: ReadStatusPorts) {
  const stateOf = connectionState(ports);
  const accountsOf = visibleAccounts(ports);
  const installUrlFor = installUrls(ports);
  return async function (by: Principal, signal: AbortSignal): Promise<GitHostStatus> {
    const [state, accounts, install] = await Promise.all([
      stateOf(by, signal),
      accountsOf(by, signal),
      whereToInstall(by, signal),
    ]);
    return { state: visibleState(state, accounts, by), accounts, ...install };
  };

  async function whereToInstall(
    by: Principal,
    signal: AbortSignal,
  ): Promise<Pick<GitHostStatus, "installUrl" | "cloudUnreachable">> {
    const { gitHost } = ports;
    if (!allows(by, "githost:write")) return { installUrl: null, cloudUnreachable: false };
    const { organizationId } = by;
    if (gitHost.app) return { installUrl: await installUrlFor(by), cloudUnreachable: false };
    if (gitHost.oauth) return { installUrl: null, cloudUnreachable: false };
    try {
      return { installUrl: (await cloudConnectUrl(ports, organizationId, signal)) ?? null, cloudUnreachable: false };
    } catch {
      return { installUrl: null, cloudUnreachable: true };
    }
  }
}

const REUSED_MS = 300_000;

/** Returns the address at which a member installs the app. It is the same for a while, because reading it stores a state. */
function installUrls(ports: ReadStatusPorts) {
  const kept = new Map<string, { readonly state: string; readonly until: number }>();
  return async function ({ userId, organizationId }: Principal): Promise<string> {
    const now = ports.clock.now().getTime();
    for (const [key, { until }] of kept) if (until <= now) kept.delete(key);
    const key = `${organizationId} ${userId}`;
    const known = kept.get(key);
    if (known && (await ports.connectAttempts.find(fingerprint(known.state), ports.clock.now())))
      return installUrl(ports.gitHost, known.state);
    const state = await connectState(ports, { userId, organizationId });
    kept.set(key, { state, until: now + REUSED_MS });
    return installUrl(ports.gitHost, state);
  };
}

/** The connection, with everything in it that the member may see. */
export interface GitHostHome {
  readonly state: ConnectionState;
  readonly accounts: readonly SourcedAccount[];
  readonly repos: readonly SourcedRepository[];
}

/** Returns the state of the connection with the accounts and repositories that the member may see. */
export function readHome(ports: ReadStatusPorts) {
  const stateOf = connectionState(ports);
  const accountsOf = visibleAccounts(ports);
  const repositoriesOf = allRepositories(ports);
  return async function (by: Principal, signal: AbortSignal): Promise<GitHostHome> {
    const state = await stateOf(by, signal);
    if (!state.connected) return { state: visibleState(state, [], by), accounts: [], repos: [] };
    const [accounts, repos] = await Promise.all([accountsOf(by, signal), repositoriesOf(by, signal)]);
    return { state: visibleState(state, accounts, by), accounts, repos };
  };
}

/**
 * Returns the accounts of all sources, each once. Members who do not see all of the connection get those whose repositories
 * they can see.
 */
function visibleAccounts(ports: ReadStatusPorts) {
  const find = usableSources(ports);
  return async function (by: Principal, signal: AbortSignal): Promise<readonly SourcedAccount[]> {
    // The state says that a login has expired; its accounts are not known then.
    const lists = await find(by, signal)
      .then((sources) => throughAll(sources, (each) => accountsOf(each, signal)))
      .catch((error: unknown) => {
        if (!isLoginExpired(error)) throw error;
        return [];
      });
    const once = new Map<number, SourcedAccount>();
    for (const account of lists.flat()) if (!once.has(account.id)) once.set(account.id, account);
    const linked = await ports.linkedProjects.repositories(by.organizationId);
    const sees = seesRepository(by, "githost:read", linked);
    const named = [...linked, ...grantedNames(by)].filter(sees);
    const owners = new Set(named.map(({ owner }) => owner.toLowerCase()));
    // A name that no repository has stands for "all of this account".
    return [...once.values()].filter(
      ({ login }) => owners.has(login.toLowerCase()) || sees({ owner: login, repo: "*" }),
    );
  };

  async function accountsOf(
    { source, access, account }: UsableSource,
    signal: AbortSignal,
  ): Promise<readonly SourcedAccount[]> {
    if (account) return [{ ...account, source }];
    return (await ports.gitAccounts.list(access, signal)).map((each) => ({ ...each, source }));
  }
}

/** Returns the repositories that the grants of a member name. */
function grantedNames({ grants, narrowing }: Principal): readonly RepositoryName[] {
  return [...grants, ...(narrowing?.grants ?? [])].flatMap(({ resource, id }) => {
    const [owner = "", repo = ""] = id.split("/");
    return resource === "githost" && repo !== "" ? [{ owner, repo }] : [];
  });
}

/** Leaves out of the state what only those who see all of the connection may know. */
function visibleState(state: ConnectionState, accounts: readonly SourcedAccount[], by: Principal): ConnectionState {
  if (seesRepository(by, "githost:read", [])({ owner: "*", repo: "*" })) return state;
  const { app, oauth, cli } = state.sources;
  const logins = new Set(accounts.map(({ login }) => login));
  const installations = app.installations.filter(({ account }) => logins.has(account.login));
  const shown = (login: string | null) => (login !== null && logins.has(login) ? login : null);
  return {
    ...state,
    sources: {
      app: { ...app, installations },
      oauth: { ...oauth, login: shown(oauth.login) },
      cli: { ...cli, login: shown(cli.login) },
    },
  };
}
