import { invalid } from "../../domain/failure.ts";
import { isGitUrl } from "../../domain/projects/project.ts";

/** A parsed git URL. */
export interface GitAddress {
  readonly url: string;
  readonly protocol: "https" | "http" | "ssh";
  readonly host: string;
  readonly port: number;
  /** `protocol://host[:port]` of an HTTP URL, which a credential is bound to. Empty for SSH. */
  readonly origin: string;
}

/** Rules for accepting a git URL. */
export interface AddressRules {
  readonly allowHttp: boolean;
  /** Completes the error message "Cannot …". */
  readonly action?: string;
}

/**
 * Parses a git URL. Throws `git_address_refused` unless it is HTTPS or SSH (or HTTP where allowed) without a password.
 */
export function gitAddress(url: string, { allowHttp, action = "clone the repository" }: AddressRules): GitAddress {
  const secure = allowHttp && url.startsWith("http://") ? url.replace("http://", "https://") : url;
  if (!isGitUrl(secure)) {
    // The message omits the URL, which may contain a password.
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
