import { invalidField } from "../failure.ts";
import { isHostName, parseAddress } from "../network_address.ts";
import type { Secret } from "../secret.ts";

/** Another machine that Slipway can log in to over SSH; its credentials are only exposed as flags. */
export interface Server {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly sshHost: string;
  readonly sshPort: number;
  readonly sshUser: string;
  /** Host key fingerprint, recorded by the first check or set by the user. */
  readonly hostKey: string | null;
  readonly hasSshPassword: boolean;
  readonly hasSshPrivateKey: boolean;
  readonly hasSshKeyPassphrase: boolean;
  readonly lastCheckedAt: Date | null;
  readonly lastCheckError: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The SSH credentials of a server. */
export interface ServerCredentials {
  readonly sshPassword: Secret | null;
  readonly sshPrivateKey: Secret | null;
  readonly sshKeyPassphrase: Secret | null;
}

/** The fields of a server to change; absent keeps, and `null` clears a credential. */
export interface ServerChange extends Partial<ServerCredentials> {
  readonly name?: string;
  readonly sshHost?: string;
  readonly sshPort?: number;
  readonly sshUser?: string;
  readonly hostKey?: string | null;
}

/** Throws for invalid host and user names, including those that another program could parse as an option. */
export function checkServerAddress({ sshHost, sshUser }: Pick<ServerChange, "sshHost" | "sshUser">): void {
  if (sshHost !== undefined && !isHostName(sshHost) && parseAddress(sshHost) === undefined) {
    throw invalidField("sshHost", "give a host name or an IP address");
  }
  if (sshUser !== undefined && !/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}\$?$/.test(sshUser)) {
    throw invalidField("sshUser", "give a user name of the server");
  }
}
