import { adoptionsContract } from "./adoptions.ts";
import { attemptsContract } from "./attempts.ts";
import { auditLogContract } from "./audit_log.ts";
import { backupDestinationsContract } from "./backup_destinations.ts";
import { cloudLinksContract } from "./cloud_links.ts";
import { serviceSetsContract } from "./service_sets.ts";
import { deployKeysContract } from "./deploy_keys.ts";
import { deploymentEventsContract } from "./deployment_events.ts";
import { deploymentQueueContract } from "./deployment_queue.ts";
import { deploymentHistoryContract } from "./deployment_history.ts";
import { deploymentsContract } from "./deployments.ts";
import { deploymentsOfUploadsContract } from "./deployments_of_uploads.ts";
import { domainsContract } from "./domains.ts";
import { gitHostStoreContracts } from "./githost_stores.ts";
import { idempotentAnswersContract } from "./idempotent_answers.ts";
import { identitiesContract } from "./identities.ts";
import { installationContract } from "./installation.ts";
import { invitationsContract } from "./invitations.ts";
import { liveReleasesContract } from "./live_releases.ts";
import { membersContract } from "./members.ts";
import { organizationsContract } from "./organizations.ts";
import { projectsContract } from "./projects.ts";
import { runtimeLogsContract } from "./runtime_logs.ts";
import { serverOwnersContract } from "./server_owners.ts";
import { serversContract } from "./servers.ts";
import { serviceHealthContract } from "./service_health.ts";
import { sessionsContract } from "./sessions.ts";
import type { StoreWorld } from "./store_world.ts";
import { tokensContract } from "./tokens.ts";
import { uploadLeasesContract } from "./upload_leases.ts";
import { uploadSessionsContract } from "./upload_sessions.ts";
import { usersContract } from "./users.ts";
import { variablesContract } from "./variables.ts";
import { workClaimsContract } from "./work_claims.ts";

/**
 * Runs the contract tests of every store. `open` is called once per suite and may return a world that others used
 * before.
 */
export function storeContracts(name: string, open: () => Promise<StoreWorld>) {
  installationContract(name, open);
  organizationsContract(name, open);
  usersContract(name, open);
  membersContract(name, open);
  invitationsContract(name, open);
  tokensContract(name, open);
  sessionsContract(name, open);
  identitiesContract(name, open);
  attemptsContract(name, open);
  auditLogContract(name, open);
  idempotentAnswersContract(name, open);
  projectsContract(name, open);
  variablesContract(name, open);
  adoptionsContract(name, open);
  deployKeysContract(name, open);
  domainsContract(name, open);
  serversContract(name, open);
  serverOwnersContract(name, open);
  backupDestinationsContract(name, open);
  uploadSessionsContract(name, open);
  uploadLeasesContract(name, open);
  cloudLinksContract(name, open);
  gitHostStoreContracts(name, open);
  deploymentsContract(name, open);
  deploymentHistoryContract(name, open);
  deploymentsOfUploadsContract(name, open);
  serviceSetsContract(name, open);
  deploymentEventsContract(name, open);
  deploymentQueueContract(name, open);
  runtimeLogsContract(name, open);
  liveReleasesContract(name, open);
  workClaimsContract(name, open);
  serviceHealthContract(name, open);
}
