import { newId } from "../../../domain/id.ts";
import type { Server, ServerCredentials } from "../../../domain/servers/server.ts";
import type { StoreWorld } from "../../contracts/store_world.ts";
import { START, uniqueLabel } from "./store_builders.ts";

export const NO_CREDENTIALS: ServerCredentials = { sshPassword: null, sshPrivateKey: null, sshKeyPassphrase: null };

/** The address of a server that is not given another one. */
export const SERVER_ADDRESS = { sshHost: "server.example.com", sshPort: 22 };

export function serverOf(overrides: Partial<Server> & Pick<Server, "organizationId">): Server {
  const createdAt = overrides.createdAt ?? START;
  return {
    id: newId("srv", createdAt),
    name: `Server ${uniqueLabel()}`,
    ...SERVER_ADDRESS,
    sshUser: "deploy",
    hostKey: null,
    hasSshPassword: false,
    hasSshPrivateKey: false,
    hasSshKeyPassphrase: false,
    lastCheckedAt: null,
    lastCheckError: null,
    createdAt,
    updatedAt: createdAt,
    ...overrides,
  };
}

/** Stores a server without credentials. */
export async function aServer(
  { servers }: Pick<StoreWorld, "servers">,
  overrides: Partial<Server> & Pick<Server, "organizationId">,
): Promise<Server> {
  const server = serverOf(overrides);
  await servers.create(server, NO_CREDENTIALS);
  return server;
}
