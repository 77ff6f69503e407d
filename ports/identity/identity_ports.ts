import type { Attempts } from "./attempts.ts";
import type { AuditLog } from "./audit_log.ts";
import type { Identities } from "./identities.ts";
import type { Installation } from "./installation.ts";
import type { Invitations } from "./invitations.ts";
import type { Members } from "./members.ts";
import type { Organizations } from "./organizations.ts";
import type { Passwords } from "./passwords.ts";
import type { Sessions } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";
import type { Users } from "./users.ts";

/** The identity ports that the application depends on. */
export interface IdentityPorts {
  readonly attempts: Attempts;
  readonly auditLog: AuditLog;
  readonly identities: Identities;
  readonly installation: Installation;
  readonly invitations: Invitations;
  readonly members: Members;
  readonly organizations: Organizations;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly tokens: Tokens;
  readonly users: Users;
}
