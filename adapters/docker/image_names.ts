import { createHash } from "node:crypto";

/** Labels by which images are found again. */
export const LABELS = {
  installation: "slipway.installation",
  project: "slipway.project",
  deployment: "slipway.deployment",
} as const;

interface Named {
  readonly installation: string;
  readonly projectId: string;
  readonly deploymentId: string;
}

/**
 * The name of a deployment's image: `slipway/<project>-<digest>:<deployment>`, within what Docker takes for a name. Without the digest, which no project can
 * tell, the Dockerfile of one could stand on the image of another.
 */
export function imageName({ installation, projectId, deploymentId }: Named): string {
  const project = projectId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "");
  const deployment = deploymentId.replaceAll(/[^A-Za-z0-9_.-]/g, "-").replace(/^[.-]+/, "");
  const digest = createHash("sha256").update(`${installation} ${projectId}`).digest("hex").slice(0, 32);
  return `slipway/${project.slice(0, 100) || "project"}-${digest}:${deployment.slice(0, 128) || "deployment"}`;
}
