import { attemptsContract } from "./attempts.ts";
import { auditLogContract } from "./audit_log.ts";
import { cloudLinksContract } from "./cloud_links.ts";
import { deploymentEventsContract } from "./deployment_events.ts";
import { deploymentQueueContract } from "./deployment_queue.ts";
import { deploymentsContract } from "./deployments.ts";
import { deploymentsOfUploadsContract } from "./deployments_of_uploads.ts";
import { domainsContract } from "./domains.ts";
import { idempotentAnswersContract } from "./idempotent_answers.ts";
import { identitiesContract } from "./identities.ts";
import { installationContract } from "./installation.ts";
import { invitationsContract } from "./invitations.ts";
import { membersContract } from "./members.ts";
import { organizationsContract } from "./organizations.ts";
import { projectsContract } from "./projects.ts";
import { serversContract } from "./servers.ts";
import { serviceHealthContract } from "./service_health.ts";
import { sessionsContract } from "./sessions.ts";
import type { StoreWorld } from "./store_world.ts";
import { tokensContract } from "./tokens.ts";
import { uploadSessionsContract } from "./upload_sessions.ts";
import { usersContract } from "./users.ts";
import { variablesContract } from "./variables.ts";

/** Runs the suite of every store; `open` is called once a suite and may give a world that others used before. */
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
  domainsContract(name, open);
  serversContract(name, open);
  uploadSessionsContract(name, open);
  cloudLinksContract(name, open);
  deploymentsContract(name, open);
  deploymentsOfUploadsContract(name, open);
  deploymentEventsContract(name, open);
  deploymentQueueContract(name, open);
  serviceHealthContract(name, open);
}
