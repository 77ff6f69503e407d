import { isIPv6 } from "node:net";
import { shellWord } from "../../domain/shell_word.ts";
import type { Secret } from "../../domain/secret.ts";
import type { GitAddress } from "./git_address.ts";

/** Parameters for connecting git to one URL. */
export interface GitAccess {
  readonly address: GitAddress;
  readonly allowHttp: boolean;
  readonly ssh: SshSettings;
  /** Sent only to the origin of the first URL, never to another. */
  readonly credential: { readonly origin: string; readonly secret: Secret } | undefined;
  /** The only IP address of the host that git may connect to. */
  readonly pinnedTo: string | undefined;
  readonly lfs: boolean;
}

/** Parameters of ssh. */
export interface SshSettings {
  readonly knownHostsFile: string;
  /** The name of the host in that file. Defaults to what ssh derives from the URL. */
  readonly hostKeyAlias?: string;
  /** An ssh_config file that names the agent to log in with. Defaults to offering no key. */
  readonly configFile?: string;
}

/** A credential helper that reads from the environment, so that the credential is in no argument, file or URL. */
const HELPER =
  '!answer() { test "$1" != get || printf "username=%s\\npassword=%s\\n" "$SLIPWAY_GIT_USER" "$SLIPWAY_GIT_PASSWORD"; }; answer';

const LFS = {
  "filter.lfs.clean": "git-lfs clean -- %f",
  "filter.lfs.smudge": "git-lfs smudge -- %f",
  "filter.lfs.process": "git-lfs filter-process",
  "filter.lfs.required": "true",
};

/**
 * Returns the environment of one git process: no configuration, hooks or prompts of this machine, only allowed
 * protocols.
 */
export function gitEnvironment(access: GitAccess): Record<string, string> {
  return {
    LC_ALL: "C",
    // Without HOME, curl and ssh would use the home directory of the user.
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    // The path of a submodule must not match those of others, which have other credentials.
    GIT_LITERAL_PATHSPECS: "1",
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

/** Splits a credential at its first colon into user and password. A token has no user. */
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

/**
 * Returns the ssh command. Git passes it to a shell, so every word is quoted. The SSH keys of the server's own user are
 * never used.
 */
function sshCommand({ address, ssh, pinnedTo }: GitAccess): string {
  const file = ssh.knownHostsFile.replaceAll("%", "%%").replaceAll('"', '\\"');
  const alias = ssh.hostKeyAlias ?? (pinnedTo === undefined ? undefined : address.host);
  const options = [
    "BatchMode=yes",
    "ConnectTimeout=30",
    ...(ssh.configFile === undefined ? ["IdentitiesOnly=yes", "IdentityAgent=none"] : ["IdentitiesOnly=no"]),
    "IdentityFile=none",
    "ServerAliveInterval=30",
    "StrictHostKeyChecking=accept-new",
    "UpdateHostKeys=no",
    `UserKnownHostsFile="${file}"`,
    "GlobalKnownHostsFile=/dev/null",
    ...(pinnedTo === undefined ? [] : [`HostName=${pinnedTo}`]),
    ...(alias === undefined ? [] : [`HostKeyAlias=${alias}`]),
  ];
  const words = ["ssh", "-F", ssh.configFile ?? "/dev/null", ...options.flatMap((option) => ["-o", option])];
  return words.map(shellWord).join(" ");
}

/** Converts settings to git's environment variables, which take precedence over the repository's configuration. */
function asEnvironment(entries: readonly (readonly [string, string])[]): Record<string, string> {
  const numbered = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: `${entries.length}`, ...Object.fromEntries(numbered) };
}
