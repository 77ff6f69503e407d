import { createHash } from "node:crypto";
import { invalidField } from "../../../domain/failure.ts";
import type { ImageOwner } from "../../../ports/deployments/release_images.ts";

/** Labels that built images carry; layers that have lost their name are known by them. */
export const LABELS = {
  installation: "slipway.installation",
  project: "slipway.project",
  deployment: "slipway.deployment",
} as const;

/** What the names of all images of all installations begin with. */
export const PREFIX = "slipway/";
/** The service whose images are named by their deployment alone. */
const PLAIN_SERVICE = "app";

const PROJECT = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;
const DEPLOYMENT = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const SERVICE = /^[A-Za-z0-9_.-]{1,63}$/;
const NAME = /^slipway\/([a-z0-9_]+)-([0-9a-f]{32}):([A-Za-z0-9_-]+)(?:\.([A-Za-z0-9_.-]+))?$/;

/**
 * The names of an installation's images: `slipway/<project>-<digest>:<deployment>` for the service `app`, `…:<deployment>.<service>` for others. They say whose an
 * image is; labels cannot, as an image may be that of several deployments, or be made by others. No project can tell the digest: without it the Dockerfile of
 * one could stand on the image of another.
 */
export class ImageNames {
  readonly #installation: string;

  constructor(installation: string) {
    this.#installation = installation;
  }

  /** The name of a service's image; words that no name can hold are refused. */
  of({ deploymentId, projectId, service }: ImageOwner): string {
    return `${this.repository(projectId)}:${tagOf(deploymentId, service)}`;
  }

  /** A name that no other build of the deployment has, until the image is known by that of its service; removed with the deployment's images. */
  ofBuild({ deploymentId, projectId }: Pick<ImageOwner, "deploymentId" | "projectId">): string {
    const build = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
    return `${this.repository(projectId)}:${tagOf(deploymentId, `building-${build}`)}`;
  }

  /** What the names of all images of a project begin with, up to the `:`. */
  repository(projectId: string): string {
    if (!PROJECT.test(projectId) || projectId.length > 100) {
      throw invalidField("projectId", "it is not the id of a project");
    }
    return `${PREFIX}${projectId}-${this.#digest(projectId)}`;
  }

  /** Whose image has this name; `undefined` for a name that this installation does not give. */
  ownerOf(name: string): ImageOwner | undefined {
    const [, projectId, digest, deploymentId, service = PLAIN_SERVICE] = NAME.exec(name) ?? [];
    if (projectId === undefined || deploymentId === undefined) return undefined;
    return this.#digest(projectId) === digest ? { deploymentId, projectId, service } : undefined;
  }

  #digest(projectId: string): string {
    return createHash("sha256").update(`${this.#installation} ${projectId}`).digest("hex").slice(0, 32);
  }
}

/** Patterns that the names of a deployment's images fit, and those of one service where it is told; none for words that no name can hold. */
export function namePatterns(deploymentId: string, service?: string): string[] {
  if (!DEPLOYMENT.test(deploymentId)) return [];
  if (service === undefined) return [`${PREFIX}*:${deploymentId}`, `${PREFIX}*:${deploymentId}.*`];
  return SERVICE.test(service) ? [`${PREFIX}*:${tagOf(deploymentId, service)}`] : [];
}

function tagOf(deploymentId: string, service: string): string {
  if (!DEPLOYMENT.test(deploymentId)) throw invalidField("deploymentId", "it is not the id of a deployment");
  if (!SERVICE.test(service)) {
    throw invalidField("service", "use up to 63 letters, digits, underscores, dots and hyphens");
  }
  return service === PLAIN_SERVICE ? deploymentId : `${deploymentId}.${service}`;
}
