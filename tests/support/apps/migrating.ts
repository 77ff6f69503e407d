import type { ManagedServer, ManagedUser } from "../peers/managed_server.ts";
import type { Answer, Call } from "./app.ts";

/** A running Slipway with its owner. */
interface Installation {
  readonly owner: string;
  call(method: string, path: string, call?: Call): Promise<Answer>;
}

/** What differs from the address and the credentials of a managed server. */
export interface ServerOverrides {
  readonly user?: ManagedUser;
  readonly sshPort?: number;
  readonly sshPrivateKey?: string;
  readonly hostKey?: string;
}

/** The routes of migration for one server, which is added without its host key. */
export class Migrating {
  readonly #slipway: Installation;
  readonly serverId: string;
  /** The name of the server. */
  readonly name: string;

  private constructor(slipway: Installation, server: { readonly id: string; readonly name: string }) {
    this.#slipway = slipway;
    this.serverId = server.id;
    this.name = server.name;
  }

  static async of(
    slipway: Installation,
    { host, port, privateKey }: Pick<ManagedServer, "host" | "port" | "privateKey">,
    { user = "root", ...overrides }: ServerOverrides = {},
  ): Promise<Migrating> {
    const login = { name: crypto.randomUUID(), sshHost: host, sshPort: port, sshUser: user, sshPrivateKey: privateKey };
    const body = { ...login, ...overrides };
    const added = await slipway.call("POST", "/api/servers", { token: slipway.owner, body });
    if (added.status !== 201) throw new Error(added.text);
    return new Migrating(slipway, added.body.data);
  }

  scan(): Promise<Answer> {
    return this.call("POST", "/api/migration/scan", { serverId: this.serverId });
  }

  adopt(projectName: string, serviceNames: readonly string[]): Promise<Answer> {
    return this.call("POST", "/api/migration/adopt", { serverId: this.serverId, projectName, serviceNames });
  }

  /** Sends a request as the owner. */
  call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { owner } = this.#slipway;
    return this.#slipway.call(method, path, { token: owner, ...(body !== undefined && { body }) });
  }
}
