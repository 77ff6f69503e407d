import { hasControls, readName } from "../given_name.ts";
import { invalidField } from "../failure.ts";
import { readHostKey } from "../servers/host_key.ts";
import { isHostName, parseAddress } from "../network_address.ts";
import type { DestinationKind, DestinationSettings } from "./destination.ts";
import { readPathPrefix } from "./path_prefix.ts";

const MAX_NAME = 80;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,127}\$?$/;
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/;
const BUCKET_RULE =
  "give a bucket name of 3 to 255 characters: letters, digits, dots, dashes and underscores, with a letter or digit at both ends";
const REGION = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/;
const SERVER_ID = /^srv_[0-9a-z]{20,40}$/;
const DEFAULT_SSH_PORT = 22;

/** Normalizes a name, or throws if it is invalid. */
export function readDestinationName(text: string): string {
  const name = readName(text, "it is blank: give the destination a name");
  if ([...name].length > MAX_NAME) throw invalidField("name", `it is longer than ${MAX_NAME} characters`);
  return name;
}

/** Returns the key under which two names count as equal: case-insensitive, NFC. */
export function nameKey(name: string): string {
  return name.trim().normalize("NFC").toLowerCase();
}

/** Normalizes settings and fills in defaults, or throws for the first invalid field. */
export async function readSettings(kind: DestinationKind, given: DestinationSettings): Promise<DestinationSettings> {
  const isSftp = kind === "sftp";
  const endpoint = kind === "local" ? readFolder(given.endpoint) : readStoreAddress(given.endpoint);
  return {
    endpoint,
    region: matching(REGION, "region", given.region, "give a region such as eu-central-1"),
    bucket: matching(BUCKET, "bucket", given.bucket, BUCKET_RULE),
    forcePathStyle: kind === "s3_compatible" ? (given.forcePathStyle ?? endpoint !== null) : null,
    pathPrefix: readPathPrefix(given.pathPrefix),
    sshHost: readHost(given.sshHost),
    sshPort: isSftp ? readPort(given.sshPort ?? DEFAULT_SSH_PORT) : null,
    sshUser: matching(USER, "sshUser", given.sshUser, "give a user name of the server"),
    sshHostKey: await readKey(given.sshHostKey),
    serverId: matching(SERVER_ID, "serverId", given.serverId, "there is no server of this id in your organization"),
  };
}

/** Returns the host name or IP address of a store's URL. */
export function hostOf(endpoint: string): string {
  return new URL(endpoint).hostname.replace(/^\[|\]$/g, "");
}

function readStoreAddress(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text) || /[\s\\]/.test(text)) {
    throw invalidField("endpoint", "give the address of the store, such as https://s3.example.com");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw invalidField("endpoint", 'give an address without a user, a password, "?" or "#"');
  }
  const host = hostOf(text);
  if (!isHostName(host) && parseAddress(host) === undefined) {
    throw invalidField("endpoint", "its host is neither a name nor an address");
  }
  return url.href.replace(/\/+$/, "");
}

function readFolder(text: string | null): string | null {
  if (text === null) return null;
  if (!text.startsWith("/") || hasControls(text)) throw invalidField("endpoint", "give an absolute path");
  if (text.split("/").includes("..")) throw invalidField("endpoint", 'give a path without ".."');
  return `/${text
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")}`;
}

function readHost(host: string | null): string | null {
  if (host === null || isHostName(host) || parseAddress(host) !== undefined) return host;
  throw invalidField("sshHost", "give a host name or an IP address");
}

function readPort(port: number): number {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw invalidField("sshPort", "give a number from 1 to 65535");
}

async function readKey(text: string | null): Promise<string | null> {
  if (text === null) return null;
  const hostKey = await readHostKey(text);
  if (!hostKey) throw invalidField("sshHostKey", 'give a fingerprint ("SHA256:…") or a public key line');
  return hostKey;
}

function matching(pattern: RegExp, field: string, text: string | null, advice: string): string | null {
  if (text === null || pattern.test(text)) return text;
  throw invalidField(field, advice);
}
