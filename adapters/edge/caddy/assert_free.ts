import { connect } from "node:net";
import { Failure } from "../../../domain/failure.ts";
import { addressUnusable, type UnusableAddress } from "../../shared/address_unusable.ts";

const CONNECT_MS = 1_000;

/** Throws a `Failure` that names the setting if a program listens at an address. */
export async function assertFree(address: UnusableAddress): Promise<void> {
  const { host: hostname, port } = address;
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true);
  } catch (cause) {
    // A server without the right to use this port can still see whether somebody answers there.
    const isTaken = (cause as { code?: string }).code === "EADDRINUSE" || (await answers(hostname, port));
    if (isTaken) throw addressUnusable(address, { code: "EADDRINUSE" });
  }
}

/** The failure to use a port of a server that the operator has configured in Caddy: both would get some visitors. */
export function portOfOtherServer(name: string): Failure {
  const sentence = `Cannot configure Caddy: its server "${name}" listens on the same port. Remove that one, or set EDGE_PORT and EDGE_TLS_PORT`;
  return new Failure("unavailable", "address_unusable", sentence);
}

function answers(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: CONNECT_MS }, () => resolve(true));
  socket.on("error", () => resolve(false));
  socket.on("timeout", () => resolve(false));
  return promise.finally(() => socket.destroy());
}
