import { Failure } from "../../domain/failure.ts";

/** An address that cannot be listened on, and the setting that its port is from. */
export interface UnusableAddress {
  readonly host: string;
  readonly port: number;
  readonly setting: "EDGE_PORT" | "EDGE_TLS_PORT";
}

/** The failure to listen on an address, with what to do about it. */
export function addressUnusable({ host, port, setting }: UnusableAddress, cause: unknown): Failure {
  const code = (cause as { code?: string }).code;
  const why =
    code === "EADDRINUSE"
      ? `another program uses it. Stop that one or set ${setting}`
      : `${code ?? "the system refused"}. Set HOST and ${setting}`;
  return new Failure("unavailable", "address_unusable", `Cannot listen on ${host}:${port}: ${why}`, { cause });
}
