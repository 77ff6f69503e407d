import { expect } from "bun:test";
import { sweepReleases } from "../../../application/deployments/cleanup/sweep_releases.ts";
import { previewPullRequest } from "../../../application/githost/preview_pull_request.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { PullRequest } from "../../../domain/githost/pull_request.ts";
import { PREVIEW_DEFAULTS, type PreviewSettings } from "../../../domain/projects/previews.ts";
import type { ProjectSettings } from "../../../domain/projects/project.ts";
import { eventually } from "../eventually.ts";
import { APP, commit, type EngineScene, REPOSITORY } from "./engine_scene.ts";

const RULES = { mode: "self-hosted", roots: [], dataFolder: "/var/lib/slipway" } as const;

/** A project that makes previews of pull requests, with a deployment in production. */
export async function previewing(
  scene: EngineScene,
  { previews = {}, settings = {} }: { previews?: Partial<PreviewSettings>; settings?: ProjectSettings } = {},
) {
  const linked = await scene.project({ gitOwner: "acme", gitRepo: "shop", ...settings });
  const apply = (wanted: Partial<PreviewSettings>) =>
    scene.useCases.changeProject(scene.by, linked.id, {
      settings: { previews: { ...PREVIEW_DEFAULTS, enabled: true, ...previews, ...wanted } },
    });
  const project = await apply({});
  const live = await scene.deployed(project);
  const report = previewPullRequest({ ...scene.world, githostUrl: "https://git.example.com", localSources: RULES });
  let commits = 0;
  const sweep = sweepReleases(scene.world, 2);
  return {
    project,
    live,
    apply,
    sweep,
    /** Reports a change of a pull request, by default a push. */
    async report(number: number, change: Partial<PullRequest> = {}) {
      scene.memory.clock.advance(1_000);
      const made = commit(`b${number}${commits++}`, APP, ["feature"]);
      const { commits: known } = scene.known.git[REPOSITORY]!;
      scene.known.git[REPOSITORY] = { commits: [...known, made] };
      const current = (await scene.world.projects.find(project.organizationId, project.id))!;
      const pullRequest = {
        repository: { owner: "acme", repo: "shop" },
        number,
        change: "changed",
        headSha: made.sha,
        branch: "feature",
        fork: false,
        changedAt: scene.memory.clock.now(),
      } as const;
      return report({ ...pullRequest, ...change }, current);
    },
  };
}

/** Such a project. */
export type Previewing = Awaited<ReturnType<typeof previewing>>;

/** Pushes to a pull request, and waits until its preview has settled. */
export async function preview(
  scene: EngineScene,
  { report }: Previewing,
  number: number,
  change: Partial<PullRequest> = {},
) {
  const { deploymentId, reason } = await report(number, change);
  if (deploymentId === null) throw new Error(reason);
  if (change.fork) await scene.useCases.startBuild(scene.by, deploymentId);
  const settled = await scene.settled(deploymentId);
  expect(settled).toMatchObject({ status: "ready", environment: "preview" });
  return settled;
}

/** The host name of a preview. */
export const hostOf = ({ urls }: Deployment) => new URL(urls[0]!).hostname;
/** The deployment that serves a host name. */
export const routed = (scene: EngineScene, hostname: string) =>
  scene.memory.edge.routeOf(hostname, "/")?.servedBy.split("-")[0];

/** Waits until exactly these of all deployments have a folder and an instance. */
export async function expectLeft(scene: EngineScene, kept: readonly Deployment[]): Promise<void> {
  const ids = kept.map(({ id }) => id).toSorted();
  const whole = { folders: ids, running: ids };
  const left = await eventually(
    async () => ({ folders: (await scene.folders()).toSorted(), running: (await scene.running()).toSorted() }),
    (found) => Bun.deepEquals(found, whole),
  );
  expect(left).toEqual(whole);
}
