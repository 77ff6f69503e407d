import { invalidField } from "../../domain/failure.ts";
import { readHostKey } from "../../domain/servers/host_key.ts";
import { readName } from "../../domain/given_name.ts";
import { newId } from "../../domain/id.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import { checkServerAddress, type Server, type ServerCredentials } from "../../domain/servers/server.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import { refusePrivateHost, type RefusePrivateHostPorts } from "../domains/refuse_private_host.ts";

export interface ServerInput extends ServerCredentials {
  readonly name: string;
  readonly sshHost: string;
  readonly sshPort: number;
  readonly sshUser: string;
  readonly hostKey: string | null;
}

export interface CreateServerPorts extends RefusePrivateHostPorts {
  readonly clock: Clock;
  readonly servers: Servers;
}

/** Stores a server that is reachable over SSH, without connecting to it yet. */
export function createServer(ports: CreateServerPorts) {
  const refusePrivate = refusePrivateHost(ports);
  return async function (by: Principal, input: ServerInput): Promise<Server> {
    demand(by, "server:write");
    const name = checkServerName(input.name);
    checkServerAddress(input);
    if (!input.sshPassword && !input.sshPrivateKey) {
      throw invalidField("sshPrivateKey", 'give a password ("sshPassword") or a private key ("sshPrivateKey")');
    }
    if (input.sshKeyPassphrase && !input.sshPrivateKey)
      throw invalidField("sshKeyPassphrase", "a passphrase needs a private key");
    await refusePrivate("sshHost", input.sshHost);
    const at = ports.clock.now();
    const server: Server = {
      id: newId("srv", at),
      organizationId: by.organizationId,
      name,
      sshHost: input.sshHost,
      sshPort: input.sshPort,
      sshUser: input.sshUser,
      hostKey: await hostKeyOf(input.hostKey),
      hasSshPassword: input.sshPassword !== null,
      hasSshPrivateKey: input.sshPrivateKey !== null,
      hasSshKeyPassphrase: input.sshKeyPassphrase !== null,
      lastCheckedAt: null,
      lastCheckError: null,
      createdAt: at,
      updatedAt: at,
    };
    await ports.servers.create(server, input);
    return server;
  };
}

/** Trims a server's name; refuses an empty one, and control characters. */
export function checkServerName(text: string): string {
  return readName(text, "give the server a name");
}

/** Parses a fingerprint or a public key line into the fingerprint that is stored. */
export async function hostKeyOf(text: string | null): Promise<string | null> {
  if (text === null) return null;
  const hostKey = await readHostKey(text);
  if (!hostKey) throw invalidField("hostKey", 'give a fingerprint ("SHA256:…") or a public key line');
  return hostKey;
}
