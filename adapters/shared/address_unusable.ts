import { Failure } from "../../domain/failure.ts";
import { portHolder } from "./port_holder.ts";

/** An address that cannot be listened on, and the setting that its port is from. */
export interface UnusableAddress {
  readonly host: string;
  readonly port: number;
  readonly setting: "PORT" | "EDGE_PORT" | "EDGE_TLS_PORT";
}

/** The first port that needs no privilege. */
const FIRST_FREE_PORT = 1_024;
const RECIPES = "docs/behind-a-proxy.md";
/** By port. Finding the program takes a while, and a TLS port is tried again and again. */
const holders = new Map<number, string>();

/** The failure to listen on an address, with what to do about it. */
export function addressUnusable(address: UnusableAddress, cause: unknown): Failure {
  const code = (cause as { code?: string }).code ?? "the system refused";
  return new Failure("unavailable", "address_unusable", unusableBecause(address, code), { cause });
}

/** The sentence about an address that cannot be listened on, for the code of the system's error. */
export function unusableBecause({ host, port, setting }: UnusableAddress, code: string): string {
  const cannot = `Cannot listen on ${host}:${port}`;
  if (code === "EADDRINUSE") {
    return `${cannot}: ${holderOf(port)} uses it. Stop that one, or set ${setting} and put Slipway behind it: see ${RECIPES}`;
  }
  if (code === "EACCES" && port < FIRST_FREE_PORT) {
    return `${cannot}: ports below ${FIRST_FREE_PORT} need CAP_NET_BIND_SERVICE. Grant it, or set ${setting}: see ${RECIPES}`;
  }
  return `${cannot}: ${code}. Set HOST and ${setting}`;
}

function holderOf(port: number): string {
  const found = holders.get(port) ?? portHolder(port) ?? "another program";
  holders.set(port, found);
  return found;
}
