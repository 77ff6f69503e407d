import type { Deployment } from "../../domain/deployments/deployment.ts";
import { withPlainText } from "../../domain/deployments/plain_text.ts";
import { occupies } from "../../domain/deployments/transitions.ts";
import { conflict, notFound } from "../../domain/failure.ts";
import type { Page } from "../../domain/page.ts";
import type { Secret } from "../../domain/secret.ts";
import { uploadUsed } from "../../domain/projects/upload.ts";
import type { DeploymentChange, DeploymentContent, Deployments } from "../../ports/deployments/deployments.ts";
import { copied } from "./copied.ts";
import { enterCommitReport } from "./enter_commit_report.ts";
import { enterPullRequestReport } from "./pull_requests.ts";
import type { DeploymentRow, MemoryTables } from "./memory_tables.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";

const EVERYTHING: Page = { page: 1, perPage: Number.MAX_SAFE_INTEGER };

/** Keeps deployments in memory. */
export class MemoryDeployments implements Deployments {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async create(deployment: Deployment, { environment, events, serviceSet }: DeploymentContent): Promise<Deployment> {
    const { projects, deployments, lastVersions } = this.#tables;
    const { id, projectId, organizationId } = deployment;
    if (projects.get(projectId)?.organizationId !== organizationId) throw notFound("project");
    const version = (lastVersions.get(projectId) ?? 0) + 1;
    const created = copied(withPlainText({ ...deployment, version }));
    this.#refuseSecond(created);
    this.#useUpload(created);
    lastVersions.set(projectId, version);
    const row: DeploymentRow = {
      deployment: created,
      lease: null,
      environment: new Map(environment),
      serviceSet: copied(serviceSet),
      events: [],
      runtimeLogs: new Map(),
    };
    deployments.set(id, row);
    enterCommitReport(this.#tables, undefined, created);
    enterPullRequestReport(this.#tables, undefined, created);
    this.#tables.addEvents(row, events);
    this.#tables.tellWorkers();
    return copied(created);
  }

  async find(organizationId: string, id: string): Promise<Deployment | undefined> {
    const deployment = this.#tables.deployments.get(id)?.deployment;
    return deployment?.organizationId === organizationId ? copied(deployment) : undefined;
  }

  async get(id: string): Promise<Deployment | undefined> {
    return copied(this.#tables.deployments.get(id)?.deployment);
  }

  async ofProject(projectId: string): Promise<readonly Deployment[]> {
    const rows = this.#tables.allDeployments().filter((deployment) => deployment.projectId === projectId);
    return newestFirst(rows, EVERYTHING, BY_CREATION).items;
  }

  async usingFilesOf(deploymentIds: readonly string[]): Promise<readonly Deployment[]> {
    const all = this.#tables.allDeployments().filter(({ artifactOf, services, source }) => {
      const origin = "deploymentId" in source ? source.deploymentId : null;
      const named = [artifactOf, origin, ...services.map(({ filesOf }) => filesOf)];
      return named.some((id) => id !== null && id !== undefined && deploymentIds.includes(id));
    });
    return copied([...all]);
  }

  async change(
    id: string,
    how: (deployment: Deployment) => DeploymentChange | undefined,
  ): Promise<Deployment | undefined> {
    const row = this.#tables.deployments.get(id);
    if (!row) return undefined;
    const change = how(copied(row.deployment));
    if (!change) return copied(row.deployment);
    const { organizationId, projectId, version, createdAt } = row.deployment;
    const changed = copied(withPlainText({ ...change.deployment, id, organizationId, projectId, version, createdAt }));
    this.#refuseSecond(changed);
    enterCommitReport(this.#tables, row.deployment, changed);
    enterPullRequestReport(this.#tables, row.deployment, changed);
    row.deployment = changed;
    if (change.environment) row.environment = new Map(change.environment);
    this.#tables.addEvents(row, change.events);
    this.#tables.tellWorkers();
    return copied(changed);
  }

  async environment(id: string): Promise<ReadonlyMap<string, Secret>> {
    return new Map(this.#tables.deployments.get(id)?.environment);
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const { deployments, projects } = this.#tables;
    const deployment = deployments.get(id)?.deployment;
    if (deployment?.organizationId !== organizationId) return false;
    const project = projects.get(deployment.projectId);
    if (project?.activeDeploymentId === id) projects.set(project.id, { ...project, activeDeploymentId: null });
    this.#tables.tellWorkers();
    enterPullRequestReport(this.#tables, deployment, undefined);
    return this.#tables.removeDeployment(id);
  }

  #useUpload({ source, organizationId }: Deployment): void {
    if (source.kind !== "upload") return;
    const row = this.#tables.uploads.get(source.uploadId);
    if (row?.session.state !== "ready" || row.session.organizationId !== organizationId) throw uploadUsed();
    this.#tables.uploads.set(source.uploadId, { ...row, session: { ...row.session, state: "used" } });
  }

  #refuseSecond(deployment: Deployment): void {
    const { id, projectId } = deployment;
    if (!occupies(deployment)) return;
    const busy = this.#tables
      .allDeployments()
      .some((other) => other.projectId === projectId && other.id !== id && occupies(other));
    if (busy)
      throw conflict("project_busy", "Cannot start this deployment: another one of its project has not finished yet");
  }
}
