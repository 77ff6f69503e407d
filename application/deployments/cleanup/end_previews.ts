import { scopeOf } from "../../../domain/deployments/release_scope.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { type PreviewRules, surplusPreviews } from "../../../domain/deployments/surplus_previews.ts";
import { stoppedService } from "../../../domain/deployments/stopped_service.ts";
import { servesAsPreview } from "../../../domain/deployments/transitions.ts";
import type { Edge } from "../../../ports/domains/edge.ts";
import type { LiveReleases } from "../../../ports/deployments/live_releases.ts";
import type { Clock } from "../../../ports/system/clock.ts";
import type { PullRequests } from "../../../ports/githost/pull_requests.ts";
import type { Runtime } from "../../../ports/services/runtime.ts";
import { dropArtifact, type DropArtifactPorts } from "./drop_artifact.ts";
import { dropVolumes, type DropVolumesPorts } from "../../services/drop_volumes.ts";
import { removeInstances } from "../../services/remove_instances.ts";

const DRAIN_MS = 30_000;

export interface EndPreviewsPorts extends DropArtifactPorts, DropVolumesPorts {
  readonly clock: Clock;
  readonly edge: Edge;
  readonly liveReleases: LiveReleases;
  readonly pullRequests: Pick<PullRequests, "closed">;
  readonly runtime: Runtime;
}

/** Runs work that no caller waits for, with ports that stay valid after the caller is done. */
export type RunInBackground = (work: (ports: EndPreviewsPorts) => Promise<void>) => void;

/**
 * Ends the surplus previews of a project and resolves to their ids. Ended previews lose their routes and count as stopped
 * at once; their instances, volumes and files are removed once their requests are drained.
 */
export function endPreviews(ports: EndPreviewsPorts, later: RunInBackground = inBackground(ports)) {
  const { clock, deployments, edge, liveReleases, pullRequests } = ports;
  return async function (
    ofProject: readonly Deployment[],
    rules: Pick<PreviewRules, "pullRequests" | "window">,
  ): Promise<ReadonlySet<string>> {
    const ended = new Set<string>();
    const projectId = ofProject.find(({ pullRequest }) => pullRequest)?.projectId;
    const closed = projectId === undefined ? new Set<number>() : await pullRequests.closed(projectId);
    for (const { id, pinned, services } of surplusPreviews(ofProject, { ...rules, closed, now: clock.now() })) {
      const instances = services.flatMap(({ instanceId }) => instanceId ?? []);
      const changed = await deployments.change(id, (stored) =>
        servesAsPreview(stored) && stored.pinned === pinned
          ? { deployment: withoutAnything(stored), events: [] }
          : undefined,
      );
      if (!changed || changed.artifactAvailable) continue;
      ended.add(id);
      await edge.switch(scopeOf(changed), []);
      await liveReleases.announce(scopeOf(changed));
      later((own) => removeEnded(own, changed, [id, ...instances]));
    }
    return ended;
  };
}

/** Drains long responses in the background. If the server is killed, the sweep removes the rest. */
async function removeEnded(ports: EndPreviewsPorts, ended: Deployment, servedBy: readonly string[]): Promise<void> {
  await Promise.all(servedBy.map((id) => ports.edge.drained(id, DRAIN_MS)));
  await removeInstances(ports, ended);
  await dropVolumes(ports, ended);
  await dropArtifact(ports, ended);
}

function inBackground(ports: EndPreviewsPorts): RunInBackground {
  return (work) => void work(ports).catch(() => {});
}

function withoutAnything(preview: Deployment): Deployment {
  return { ...preview, artifactAvailable: false, services: preview.services.map((service) => stoppedService(service)) };
}
