import { copied } from "./copied.ts";
import type { AdoptedService } from "../../domain/migration/adoption.ts";
import type { BackupDestination, DestinationCredentials } from "../../domain/backups/destination.ts";
import type { Deployment, Environment } from "../../domain/deployments/deployment.ts";
import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import type { LeftOut } from "../../domain/deployments/output_tail.ts";
import { withPlainText } from "../../domain/deployments/plain_text.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { AppInstallation } from "../../domain/githost/app_installation.ts";
import type { OAuthAccount } from "../../domain/githost/oauth_account.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { DeliveryOutcome, WebhookDelivery } from "../../domain/githost/webhook_delivery.ts";
import type { AccessToken, Invitation, Organization, User } from "../../domain/identity/identity.ts";
import type { Grant, Role } from "../../domain/identity/permission.ts";
import type { DeployKey, PinnedHostKey } from "../../domain/projects/deploy_key.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Server, ServerCredentials } from "../../domain/servers/server.ts";
import type { ServiceSet } from "../../domain/services/service_set.ts";
import type { UploadSession } from "../../domain/projects/upload.ts";
import type { AuditEntry } from "../../ports/identity/audit_log.ts";
import type { NotedPullRequest, PullRequestReport } from "../../ports/githost/pull_requests.ts";
import type { OutboxRow } from "./outbox.ts";
import type { CommitReport } from "../../ports/githost/commit_reports.ts";
import type { CloudLink } from "../../ports/cloud/cloud_links.ts";
import type { ConnectAttempt, DeviceAttempt } from "../../ports/githost/connect_attempts.ts";
import type { RepositoryHook } from "../../ports/githost/repository_hooks.ts";
import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import type { IdempotentRequest, KeptAnswer } from "../../ports/system/idempotent_answers.ts";
import type { OutputLine } from "../../ports/services/runtime.ts";
import type { Session } from "../../ports/identity/sessions.ts";
import { CertificateTables } from "./certificate_tables.ts";
import { MemoryClock } from "./clock.ts";

/** A user as stored. */
export interface UserRow extends Omit<User, "hasPassword"> {
  readonly passwordHash: string | null;
}

/** A membership as stored. Name and email are stored with the user. */
export interface MemberRow {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
  readonly createdAt: Date;
}

/** A token as stored. A revoked token is kept, but authenticates no user. */
export interface TokenRow {
  readonly token: AccessToken;
  readonly fingerprint: string;
  readonly revokedAt: Date | null;
}

/** An environment variable as stored. */
export interface VariableRow {
  readonly value: Secret;
  readonly secret: boolean;
  readonly updatedAt: Date;
}

/** A deploy key as stored, with the host keys pinned for it, by host. */
export interface DeployKeyRow {
  readonly key: DeployKey;
  readonly privateKey: Secret;
  readonly hostKeys: Map<string, PinnedHostKey>;
}

/** An upload session as stored, with the lease of its receiver. */
export interface UploadRow {
  readonly session: UploadSession;
  readonly lease: { readonly id: string; readonly until: Date } | null;
}

/** A backup destination as stored. The default is stored separately. */
export interface DestinationRow {
  readonly destination: Omit<BackupDestination, "isDefault">;
  readonly credentials: DestinationCredentials;
}

/** An idempotency key as stored, claimed or answered. `at` is its claim or last renewal. */
export interface AnswerRow {
  readonly claimId: string;
  readonly request: IdempotentRequest;
  readonly at: Date;
  readonly leaseUntil: Date;
  readonly answer: KeptAnswer | null;
}

/** The output of a service as stored. */
export interface RuntimeLogRow {
  readonly lines: readonly OutputLine[];
  /** The instance that printed the lines after number `after`, or `null` when those are final. */
  readonly endsWith: string | null;
  readonly after: number;
  /** The lines omitted up to `after`, and after it. */
  readonly leftOut: LeftOut | null;
  readonly ownLeftOut: LeftOut | null;
}

/** A deployment as stored, with everything that belongs to it. */
export interface DeploymentRow {
  deployment: Deployment;
  lease: { readonly owner: string; readonly until: Date } | null;
  environment: ReadonlyMap<string, Secret>;
  serviceSet: ServiceSet | undefined;
  /** The event with number 1 comes first. */
  readonly events: DeploymentEvent[];
  /** The output of its services, by service name. */
  readonly runtimeLogs: Map<string, RuntimeLogRow>;
}

/** A login on another device as stored. */
export interface DeviceRow {
  readonly attempt: Omit<DeviceAttempt, "deviceCode">;
  readonly deviceCode: Secret;
}

/** A webhook delivery as stored. `outcome` is `null` while it is carried out. */
export interface DeliveryRow {
  readonly delivery: WebhookDelivery;
  readonly claimedAt: Date;
  readonly outcome: DeliveryOutcome | null;
}

/** What has to be reported to a commit, as stored. */
export interface ReportRow extends OutboxRow<CommitReport> {
  readonly version: number;
}

/** A pull request with what has to be commented on, as stored. */
export interface PullRequestRow extends OutboxRow<PullRequestReport>, Pick<NotedPullRequest, "change" | "changedAt"> {}

/** The data that memory adapters share. Two adapters over the same tables simulate two processes on one database. */
export class MemoryTables {
  readonly organizations = new Map<string, Organization>();
  readonly users = new Map<string, UserRow>();
  readonly members = new Map<string, MemberRow>();
  readonly invitations = new Map<string, { readonly invitation: Invitation; readonly fingerprint: string }>();
  readonly tokens = new Map<string, TokenRow>();
  readonly sessions = new Map<string, { readonly session: Session; readonly fingerprint: string }>();
  readonly projects = new Map<string, Project>();
  /** The organization that used each project id first, by id. */
  readonly projectIds = new Map<string, string>();
  readonly domains = new Map<string, DomainName>();
  readonly certificates = new CertificateTables();
  /** By project. */
  readonly adoptedServices = new Map<string, readonly AdoptedService[]>();
  /** By project, then by key. */
  readonly variables: Readonly<Record<Environment, Map<string, Map<string, VariableRow>>>> = {
    production: new Map(),
    preview: new Map(),
  };
  /** By project. */
  readonly deployKeys = new Map<string, DeployKeyRow>();
  readonly servers = new Map<string, { readonly server: Server; readonly credentials: ServerCredentials }>();
  /** The ids of servers that something was put into containers on. */
  readonly serversInUse = new Set<string>();
  readonly backupDestinations = new Map<string, DestinationRow>();
  /** The default destination's id, by organization. */
  readonly defaultBackupDestinations = new Map<string, string>();
  readonly uploads = new Map<string, UploadRow>();
  readonly cloudLinks = new Map<string, { readonly link: CloudLink; readonly token: Secret }>();
  readonly installations = new Map<number, AppInstallation>();
  /** By membership. */
  readonly oauthAccounts = new Map<string, { readonly account: OAuthAccount; readonly grant: OAuthGrant }>();
  /** By membership. */
  readonly deviceAttempts = new Map<string, DeviceRow>();
  /** By the hash of their state. */
  readonly connectAttempts = new Map<string, ConnectAttempt>();
  /** By organization and lower-case name. */
  readonly repositoryHooks = new Map<string, { readonly hook: RepositoryHook; readonly secret: Secret }>();
  /** The organizations that disconnected from the command-line client. */
  readonly commandLineOff = new Set<string>();
  readonly webhookDeliveries = new Map<string, DeliveryRow>();
  /** By project, environment and commit. */
  readonly commitReports = new Map<string, ReportRow>();
  /** By project and number. */
  readonly pullRequests = new Map<string, PullRequestRow>();
  readonly attempts = new Map<string, { readonly count: number; readonly endsAt: Date }>();
  readonly audit = new Map<string, AuditEntry>();
  /** By caller and key. */
  readonly answers = new Map<string, AnswerRow>();
  readonly deployments = new Map<string, DeploymentRow>();
  /** The last version of each project's deployments, by project. */
  readonly lastVersions = new Map<string, number>();
  /** Called when events of any deployment were stored, or one was removed. */
  readonly eventHandlers = new Set<() => void>();
  /** Called when there may be work on deployments. */
  readonly workHandlers = new Set<() => void>();
  /** Called when there may be something to report to commits. */
  readonly reportHandlers = new Set<() => void>();
  /** Called when there may be something to comment on in pull requests. */
  readonly pullRequestHandlers = new Set<() => void>();
  /** Called when live releases may have changed. */
  readonly liveHandlers = new Set<(key: string | null) => unknown>();
  /** Pending promises of the live handlers. */
  readonly liveWork = new Set<Promise<unknown>>();
  /** The token that the installation gave to the first owner. */
  founderTokenId: string | undefined;
  installationId: string | undefined;
  usesContainers = false;

  /** The database clock, shared by all processes. */
  readonly clock: MemoryClock;

  constructor(clock = new MemoryClock()) {
    this.clock = clock;
  }

  /** Returns all deployments. */
  allDeployments(): IteratorObject<Deployment> {
    return this.deployments.values().map(({ deployment }) => deployment);
  }

  /** Returns the deployment of a claim, or `undefined` when the claim is void. */
  claimed({ deploymentId, owner, attempt }: WorkClaim): DeploymentRow | undefined {
    const row = this.deployments.get(deploymentId);
    return row?.lease?.owner === owner && row.deployment.attempts === attempt ? row : undefined;
  }

  /** Numbers and stores events of a deployment, and notifies its followers. */
  addEvents(row: DeploymentRow, events: readonly NewEvent[]): void {
    for (const event of events) row.events.push(copied({ ...withPlainText(event), seq: row.events.length + 1 }));
    if (events.length > 0) for (const handler of this.eventHandlers) handler();
  }

  /** Removes a deployment with everything that belongs to it. Returns `false` when there is none. */
  removeDeployment(id: string): boolean {
    const removed = this.deployments.delete(id);
    for (const [key, { report }] of this.commitReports) if (report.deploymentId === id) this.commitReports.delete(key);
    for (const handler of this.eventHandlers) handler();
    return removed;
  }

  /** Returns whether a host name is verified, or claimed by the same organization. */
  isHostnameTaken({ hostname, organizationId }: Pick<DomainName, "hostname" | "organizationId">): boolean {
    const held = this.domains.values().filter((domain) => domain.hostname === hostname);
    return held.some((domain) => domain.verifiedAt !== null || domain.organizationId === organizationId);
  }

  /** Removes a domain with its certificate. Returns `false` when there is none. */
  removeDomain(id: string): boolean {
    const domain = this.domains.get(id);
    if (!domain) return false;
    this.domains.delete(id);
    this.certificates.removeDomain(domain);
    return true;
  }

  /** Removes what was decided about a project on webhook deliveries. */
  removeDecisions(projectId: string): void {
    for (const [id, row] of this.webhookDeliveries) {
      const decisions = row.outcome?.decisions.filter((decision) => decision.projectId !== projectId);
      if (decisions) this.webhookDeliveries.set(id, { ...row, outcome: { decisions } });
    }
  }

  /** Notifies all processes that there may be work on deployments. */
  tellWorkers(): void {
    for (const handler of this.workHandlers) queueMicrotask(handler);
  }
}

/** The key a membership is stored under. */
export function memberKey(organizationId: string, userId: string): string {
  return `${organizationId} ${userId}`;
}
