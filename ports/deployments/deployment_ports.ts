import type { Builder } from "./builder.ts";
import type { ServiceSets } from "./service_sets.ts";
import type { ContainerEngine } from "./container_engine.ts";
import type { DeploymentEvents } from "./deployment_events.ts";
import type { DeploymentHistory } from "./deployment_history.ts";
import type { DeploymentQueue } from "./deployment_queue.ts";
import type { Deployments } from "./deployments.ts";
import type { HealthProbe } from "./health_probe.ts";
import type { ImageBuilder } from "./image_builder.ts";
import type { ImageRegistry } from "./image_registry.ts";
import type { LiveReleases } from "./live_releases.ts";
import type { ReleaseFolders } from "./release_folders.ts";
import type { ReleaseImages } from "./release_images.ts";

/** The deployment ports that the application depends on. */
export interface DeploymentPorts {
  readonly builder: Builder;
  readonly serviceSets: ServiceSets;
  readonly containerEngine: ContainerEngine;
  readonly deploymentEvents: DeploymentEvents;
  readonly deploymentHistory: DeploymentHistory;
  readonly deploymentQueue: DeploymentQueue;
  readonly deployments: Deployments;
  readonly healthProbe: HealthProbe;
  readonly imageBuilder: ImageBuilder;
  readonly imageRegistry: ImageRegistry;
  readonly liveReleases: LiveReleases;
  readonly releaseFolders: ReleaseFolders;
  readonly releaseImages: ReleaseImages;
}
