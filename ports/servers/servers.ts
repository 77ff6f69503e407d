import type { Listing, Page } from "../../domain/page.ts";
import type { Server, ServerChange, ServerCredentials } from "../../domain/servers/server.ts";

/** How a check of a server ended. */
export interface ServerCheck {
  /** The address that was checked; a server that has another one by now stays as it is. */
  readonly sshHost: string;
  readonly sshPort: number;
  readonly at: Date;
  readonly error: string | null;
  /** Recorded only where none is recorded yet. */
  readonly hostKey: string | null;
}

/** Where other machines are kept, apart by organization, with their secrets encrypted at rest. Names are unique in an organization, in any case. */
export interface Servers {
  /** Newest first; `ids` limits the list. */
  list(organizationId: string, filter: { readonly ids?: readonly string[] }, page: Page): Promise<Listing<Server>>;
  find(organizationId: string, id: string): Promise<Server | undefined>;
  credentials(organizationId: string, id: string): Promise<ServerCredentials | undefined>;
  /** Rejects with a `conflict` failure, code `name_taken`. */
  create(server: Server, credentials: ServerCredentials): Promise<void>;
  /** Changes what is given; a new `sshHost` or `sshPort` without a new `hostKey` forgets the recorded one. */
  change(
    organizationId: string,
    id: string,
    how: { readonly change: ServerChange; readonly at: Date },
  ): Promise<Server | undefined>;
  checked(organizationId: string, id: string, check: ServerCheck): Promise<Server | undefined>;
  remove(organizationId: string, id: string): Promise<boolean>;
}
