import { createHash } from "node:crypto";
import { invalidField } from "../../../domain/failure.ts";
import type { ImageOwner } from "../../../ports/deployments/release_images.ts";

/** Labels of built images; they identify layers that have lost their name. */
export const LABELS = {
  installation: "slipway.installation",
  project: "slipway.project",
  deployment: "slipway.deployment",
} as const;

/** Name prefix of all images of all installations. */
export const PREFIX = "slipway/";
/** The service whose images are named by their deployment alone. */
const PLAIN_SERVICE = "app";

const PROJECT = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;
const DEPLOYMENT = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const SERVICE = /^[A-Za-z0-9_.-]{1,63}$/;
const NAME = /^slipway\/([a-z0-9_]+)-([0-9a-f]{32}):([A-Za-z0-9_-]+)(?:\.([A-Za-z0-9_.-]+))?$/;

/**
 * The names of an installation's images: `slipway/<project>-<digest>:<deployment>` for the service `app`,
 * `…:<deployment>.<service>` for others. The name identifies the owner; labels cannot, because several deployments may
 * share an image, or others may have built it. No project can guess the digest; otherwise the Dockerfile of one project
 * could build on the image of another.
 */
export class ImageNames {
  readonly #installation: string;

  constructor(installation: string) {
    this.#installation = installation;
  }

  /** Returns the name of a service's image; throws for input that no name can contain. */
  of({ deploymentId, projectId, service }: ImageOwner): string {
    return `${this.repository(projectId)}:${tagOf(deploymentId, service)}`;
  }

  /**
   * Returns a name that is unique to this build, used until the image gets the name of its service; removed with the
   * deployment's images.
   */
  ofBuild({ deploymentId, projectId }: Pick<ImageOwner, "deploymentId" | "projectId">): string {
    const build = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
    return `${this.repository(projectId)}:${tagOf(deploymentId, `building-${build}`)}`;
  }

  /** Returns the name prefix of all images of a project, up to the `:`. */
  repository(projectId: string): string {
    if (!PROJECT.test(projectId) || projectId.length > 100) {
      throw invalidField("projectId", "it is not the id of a project");
    }
    return `${PREFIX}${projectId}-${this.#digest(projectId)}`;
  }

  /** Returns the owner of the image with this name; `undefined` for a name that this installation does not assign. */
  ownerOf(name: string): ImageOwner | undefined {
    const [, projectId, digest, deploymentId, service = PLAIN_SERVICE] = NAME.exec(name) ?? [];
    if (projectId === undefined || deploymentId === undefined) return undefined;
    return this.#digest(projectId) === digest ? { deploymentId, projectId, service } : undefined;
  }

  #digest(projectId: string): string {
    return createHash("sha256").update(`${this.#installation} ${projectId}`).digest("hex").slice(0, 32);
  }
}

/**
 * Returns patterns that match the names of a deployment's images, or only of one service if given; none for input that
 * no name can contain.
 */
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
