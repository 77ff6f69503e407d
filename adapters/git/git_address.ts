import { invalid } from "../../domain/failure.ts";
import { isGitUrl } from "../../domain/projects/project.ts";

/** The parts of a git address that matter before git is asked. */
export interface GitAddress {
  readonly url: string;
  readonly protocol: "https" | "http" | "ssh";
  readonly host: string;
  readonly port: number;
  /** `protocol://host[:port]` of an address over HTTP: what a credential belongs to. */
  readonly origin: string;
}

/** What an address is read for, and whether it may be without encryption. */
export interface AddressRules {
  readonly allowHttp: boolean;
  /** What goes after "Cannot" when it is refused. */
  readonly action?: string;
}

/** Reads an address, or refuses one that is not plainly HTTPS or SSH (HTTP where allowed) without a password in it. */
export function gitAddress(url: string, { allowHttp, action = "clone the repository" }: AddressRules): GitAddress {
  const secure = allowHttp && url.startsWith("http://") ? url.replace("http://", "https://") : url;
  if (!isGitUrl(secure)) {
    // The address stays unsaid: there may be a password in it.
    const reason = "give it an https:// or ssh:// address (or user@host:path) without a password in it";
    throw invalid("git_address_refused", `Cannot ${action}: ${reason}`);
  }
  if (!url.includes("://")) {
    const host = url.slice(url.indexOf("@") + 1, url.indexOf(":"));
    return { url, protocol: "ssh", host, port: 22, origin: "" };
  }
  const { protocol, hostname: host, port, origin } = new URL(url);
  if (protocol === "ssh:") return { url, protocol: "ssh", host, port: Number(port || 22), origin: "" };
  const http = protocol === "http:";
  return { url, protocol: http ? "http" : "https", host, port: Number(port || (http ? 80 : 443)), origin };
}
