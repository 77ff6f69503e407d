import { invalidField } from "../failure.ts";
import { isHostName, parseAddress } from "../network_address.ts";
import type { Secret } from "../secret.ts";

/** Another machine that Slipway can enter over SSH; its secrets are told only as flags. */
export interface Server {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly sshHost: string;
  readonly sshPort: number;
  readonly sshUser: string;
  /** Fingerprint recorded by the first check, or given by hand. */
  readonly hostKey: string | null;
  readonly hasSshPassword: boolean;
  readonly hasSshPrivateKey: boolean;
  readonly hasSshKeyPassphrase: boolean;
  readonly lastCheckedAt: Date | null;
  readonly lastCheckError: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The secrets a server is entered with. */
export interface ServerCredentials {
  readonly sshPassword: Secret | null;
  readonly sshPrivateKey: Secret | null;
  readonly sshKeyPassphrase: Secret | null;
}

/** The parts of a server that can be changed; an absent one stays, a `null` credential is cleared. */
export interface ServerChange extends Partial<ServerCredentials> {
  readonly name?: string;
  readonly sshHost?: string;
  readonly sshPort?: number;
  readonly sshUser?: string;
  readonly hostKey?: string | null;
}

/** Refuses host and user names that are none, or that another program could take as an option. */
export function checkServerAddress({ sshHost, sshUser }: Pick<ServerChange, "sshHost" | "sshUser">): void {
  if (sshHost !== undefined && !isHostName(sshHost) && parseAddress(sshHost) === undefined) {
    throw invalidField("sshHost", "give a host name or an IP address");
  }
  if (sshUser !== undefined && !/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}\$?$/.test(sshUser)) {
    throw invalidField("sshUser", "give a user name of the server");
  }
}
