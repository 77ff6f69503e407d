/** Labels by which images are found again. */
export const LABELS = {
  installation: "slipway.installation",
  project: "slipway.project",
  deployment: "slipway.deployment",
} as const;

/** The name of a deployment's image: `slipway/<project>:<deployment>`, within what Docker takes for a name. */
export function imageName(projectId: string, deploymentId: string): string {
  const project = projectId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "");
  const deployment = deploymentId.replaceAll(/[^A-Za-z0-9_.-]/g, "-").replace(/^[.-]+/, "");
  return `slipway/${project.slice(0, 100) || "project"}:${deployment.slice(0, 128) || "deployment"}`;
}
