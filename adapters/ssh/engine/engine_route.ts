import type { Duplex } from "node:stream";
import type { Client } from "ssh2";
import { shellWord } from "../../../domain/shell_word.ts";

/** How connections to the engine of a machine are made: to its socket, or through a program that relays them. */
export type EngineRoute =
  | { readonly kind: "socket"; readonly path: string }
  | { readonly kind: "program"; readonly argv: readonly string[] };

/** How long the server has to end a connection by itself. */
const END_MS = 2_000;

/** Opens one connection to the engine. Rejects with the error of the server. */
export function openEngine(client: Client, route: EngineRoute): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    if (route.kind === "program") {
      client.exec(route.argv.map(shellWord).join(" "), (error, channel) => {
        if (error) return reject(error);
        channel.stderr.resume();
        return resolve(channel);
      });
      return;
    }
    client.openssh_forwardOutStreamLocal(route.path, (error, channel) => {
      if (error) return reject(error);
      return resolve(channel as unknown as Duplex);
    });
  });
}

/** Opens a connection to a port of the machine's loopback address. */
export function openPort(client: Client, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    client.forwardOut("127.0.0.1", 0, "127.0.0.1", port, (error, channel) =>
      error ? reject(error) : resolve(channel),
    );
  });
}

/**
 * Ends a connection to the engine and drops what still comes. The server closes it, because it counts a program that
 * has not exited against its limit, also when nobody listens to it any more.
 */
export function endPolitely(channel: Duplex): void {
  const byForce = setTimeout(() => channel.destroy(), END_MS);
  channel.on("error", () => {});
  channel.once("close", () => clearTimeout(byForce));
  channel.end();
  channel.resume();
}
