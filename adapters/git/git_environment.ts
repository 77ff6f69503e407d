import { isIPv6 } from "node:net";
import { shellWord } from "../../domain/shell_word.ts";
import type { Secret } from "../../domain/secret.ts";
import type { GitAddress } from "./git_address.ts";

/** What git must know to reach one address. */
export interface GitAccess {
  readonly address: GitAddress;
  readonly allowHttp: boolean;
  readonly knownHostsFile: string;
  /** For the origin of the first address, never for another. */
  readonly credential: { readonly origin: string; readonly secret: Secret } | undefined;
  /** The one address of the host that may be connected to. */
  readonly pinnedTo: string | undefined;
  readonly lfs: boolean;
}

/** Answers git's question for a credential from the environment: so it is in no argument, no file and no address. */
const HELPER =
  '!answer() { test "$1" != get || printf "username=%s\\npassword=%s\\n" "$SLIPWAY_GIT_USER" "$SLIPWAY_GIT_PASSWORD"; }; answer';

const LFS = {
  "filter.lfs.clean": "git-lfs clean -- %f",
  "filter.lfs.smudge": "git-lfs smudge -- %f",
  "filter.lfs.process": "git-lfs filter-process",
  "filter.lfs.required": "true",
};

/** The environment of one run of git: no settings, hooks or prompts of this machine, no way but the allowed protocols. */
export function gitEnvironment(access: GitAccess): Record<string, string> {
  return {
    LC_ALL: "C",
    // Without one, curl and ssh would look into the home folder of the user.
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: access.allowHttp ? "https:ssh:http" : "https:ssh",
    GIT_SSH_COMMAND: sshCommand(access),
    GIT_SSH_VARIANT: "ssh",
    ...credentialOf(access),
    ...asEnvironment([...Object.entries(settings(access)), ...resolution(access)]),
  };
}

function settings(access: GitAccess): Record<string, string> {
  const { credential, pinnedTo } = access;
  return {
    "advice.detachedHead": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.symlinks": "true",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.followRedirects": pinnedTo === undefined ? "initial" : "false",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "120",
    "init.defaultBranch": "main",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    ...(credential ? { [`credential.${credential.origin}.helper`]: HELPER } : {}),
    ...(access.lfs ? LFS : {}),
  };
}

/** The first colon of a credential ends its user; a token stands alone. */
function credentialOf({ credential }: GitAccess): Record<string, string> {
  if (!credential) return {};
  const value = credential.secret.reveal();
  const colon = value.indexOf(":");
  return colon === -1
    ? { SLIPWAY_GIT_USER: "x-access-token", SLIPWAY_GIT_PASSWORD: value }
    : { SLIPWAY_GIT_USER: value.slice(0, colon), SLIPWAY_GIT_PASSWORD: value.slice(colon + 1) };
}

function resolution({ address, pinnedTo }: GitAccess): [string, string][] {
  if (pinnedTo === undefined || address.protocol === "ssh") return [];
  const literal = isIPv6(pinnedTo) ? `[${pinnedTo}]` : pinnedTo;
  return [["http.curloptResolve", `${address.host}:${address.port}:${literal}`]];
}

/** Git hands this to a shell: every word is quoted. The keys of the server's own user are nobody's to use. */
function sshCommand({ address, knownHostsFile, pinnedTo }: GitAccess): string {
  const file = knownHostsFile.replaceAll("%", "%%").replaceAll('"', '\\"');
  const options = [
    "BatchMode=yes",
    "ConnectTimeout=30",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "IdentityFile=none",
    "ServerAliveInterval=30",
    "StrictHostKeyChecking=accept-new",
    `UserKnownHostsFile="${file}"`,
    "GlobalKnownHostsFile=/dev/null",
    ...(pinnedTo === undefined ? [] : [`HostName=${pinnedTo}`, `HostKeyAlias=${address.host}`]),
  ];
  return ["ssh", "-F", "/dev/null", ...options.flatMap((option) => ["-o", option])].map(shellWord).join(" ");
}

/** Settings as git takes them from its environment: they win over those of the repository. */
function asEnvironment(entries: readonly (readonly [string, string])[]): Record<string, string> {
  const numbered = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: `${entries.length}`, ...Object.fromEntries(numbered) };
}
