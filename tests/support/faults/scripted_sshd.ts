import type { AddressInfo } from "node:net";
import { type AuthContext, type Connection, Server, type ServerConfig } from "ssh2";
import { Secret } from "../../../domain/secret.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { keyPair } from "../inputs/key_pair.ts";

/** An SSH server in this process that misbehaves in ways that a real one cannot. */
export interface ScriptedSshd extends AsyncDisposable {
  readonly target: RemoteTarget & { readonly password: Secret };
  /** The method of every login attempt so far. */
  readonly attempts: readonly string[];
}

/** The server's behavior. By default it accepts every login and runs nothing. */
export interface Script {
  readonly login?: (attempt: AuthContext, connection: Connection) => void;
  readonly session?: (connection: Connection) => void;
  readonly config?: Partial<ServerConfig>;
}

/** Starts a server with this script on a free loopback port. */
export async function scriptedSshd({ login, session, config }: Script = {}): Promise<ScriptedSshd> {
  const attempts: string[] = [];
  const connections = new Set<Connection>();
  const hostKeys = [keyPair().private];
  const server = new Server({ hostKeys, ...config }, (connection) => {
    connections.add(connection);
    connection.on("error", () => {}).on("close", () => connections.delete(connection));
    connection.on("authentication", (attempt) => {
      attempts.push(attempt.method);
      if (login) login(attempt, connection);
      else attempt.accept();
    });
    connection.on("ready", () => session?.(connection));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    attempts,
    target: { host: "127.0.0.1", port, user: "alice", password: new Secret("correct horse") },
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.end();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
