import { MemoryLog } from "../../../adapters/memory/log.ts";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { OutboxWorker } from "../../../application/githost/outbox_worker.ts";
import { reportCommits, type ReportCommitPorts } from "../../../application/githost/report_commits.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { Project } from "../../../domain/projects/project.ts";
import type { CommitStatuses } from "../../../ports/githost/commit_statuses.ts";
import { NEVER } from "../../contracts/git_host_stage.ts";
import { aDeployment, anOrganization, aProject } from "../database/store_builders.ts";

const NAME = { owner: "acme", repo: "shop" };
/** The source of a scene's deployments; names on a git host have no case. */
export const GIT = { kind: "git", url: "https://git.example.com/Acme/shop.git", branch: "main", commit: null } as const;
/** The settings of a project that is linked to that repository. */
export const LINKED = { gitOwner: "acme", gitRepo: "shop", gitAccess: true };

/** Returns a function that reports everything that is due, and returns the milliseconds until more is. */
export function aReporter(ports: ReportCommitPorts) {
  const reporter = new OutboxWorker(reportCommits(ports));
  return async function (signal: AbortSignal = NEVER): Promise<number | null> {
    for (;;) {
      const nextMs = await reporter.begin(signal);
      if (!reporter.isBusy) return nextMs;
      await reporter.settled();
    }
  };
}

/** A linked project of an organization whose app is installed on the repository's owner, and a process that reports. */
export async function commitReportScene({ settings = LINKED }: { readonly settings?: Project["settings"] } = {}) {
  const memory = memoryWorld();
  const { gitHostState: host } = memory;
  const log = new MemoryLog();
  const organization = await anOrganization(memory);
  const project = await aProject(memory, { organizationId: organization.id, slug: "shop", settings });
  host.addAccount("acme", "Organization");
  host.addRepository({ owner: "acme", name: "shop" });
  const sha = host.tipOf(NAME, "main");
  const installationId = host.install("acme");
  const installation = {
    ...host.installation(installationId),
    organizationId: organization.id,
    connectedBy: "usr_1",
    connectedAt: memory.clock.now(),
  };
  await memory.appInstallations.connect(installation);
  const settled = { mode: "self-hosted", githostUrl: "https://git.example.com" } as const;
  const portsWith = (commitStatuses: CommitStatuses = memory.commitStatuses) => {
    return { ...memory, ...settled, log, commitStatuses, urlOf: (hostname: string) => `http://${hostname}:4480` };
  };
  const reportDue = aReporter(portsWith());
  return {
    host,
    installationId,
    log,
    memory,
    portsWith,
    project,
    sha,
    deployment: (overrides: Partial<Deployment> = {}) =>
      aDeployment(memory, {
        organizationId: organization.id,
        projectId: project.id,
        source: GIT,
        commitSha: sha,
        ...overrides,
      }),
    change: ({ id }: Deployment, to: Partial<Deployment>) =>
      memory.deployments.change(id, (stored) => ({ deployment: { ...stored, ...to }, events: [] })),
    report: () => reportDue(),
    statuses: () => host.statusesOf(NAME, sha),
    /** The states and descriptions that the commit got, in order. */
    shown: () => host.statusesOf(NAME, sha).map(({ state, description }) => `${state}: ${description}`),
    logged: (level: string) => log.lines.filter((line) => line.level === level).map(({ text }) => text),
  };
}

export type CommitReportScene = Awaited<ReturnType<typeof commitReportScene>>;
