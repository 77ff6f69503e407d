import type { Listing, Page } from "../../domain/page.ts";
import type { Server, ServerChange, ServerCredentials } from "../../domain/servers/server.ts";

/** The result of a server check. */
export interface ServerCheck {
  /** The address that was checked. A server whose address changed since stays unchanged. */
  readonly sshHost: string;
  readonly sshPort: number;
  readonly at: Date;
  readonly error: string | null;
  /** Recorded only when no host key is recorded yet. */
  readonly hostKey: string | null;
}

/**
 * Stores other machines per organization, with their secrets encrypted at rest. Names are unique in an organization,
 * ignoring case.
 */
export interface Servers {
  /** Newest first. `ids` filters the list. */
  list(organizationId: string, filter: { readonly ids?: readonly string[] }, page: Page): Promise<Listing<Server>>;
  find(organizationId: string, id: string): Promise<Server | undefined>;
  credentials(organizationId: string, id: string): Promise<ServerCredentials | undefined>;
  /** Rejects with a `conflict` failure, code `name_taken`. */
  create(server: Server, credentials: ServerCredentials): Promise<void>;
  /** Changes the given fields. A new `sshHost` or `sshPort` without a new `hostKey` clears the recorded one. */
  change(
    organizationId: string,
    id: string,
    how: { readonly change: ServerChange; readonly at: Date },
  ): Promise<Server | undefined>;
  checked(organizationId: string, id: string, check: ServerCheck): Promise<Server | undefined>;
  remove(organizationId: string, id: string): Promise<boolean>;
}
