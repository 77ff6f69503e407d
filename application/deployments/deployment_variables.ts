import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import type { RecordedEnvironment } from "./make_deployment.ts";

/** What decides which variables a deployment gets. */
export type VariablesTarget = Pick<Deployment, "environment" | "projectId" | "pullRequest">;

/**
 * Returns the variables that a deployment gets if its build begins now: those of its environment, so that no variable
 * of production reaches a preview. A pull request from a fork gets none.
 */
export async function deploymentVariables(
  { variables }: { readonly variables: Variables },
  { environment, projectId, pullRequest }: VariablesTarget,
): Promise<RecordedEnvironment> {
  if (pullRequest?.fork) return { values: new Map(), secretKeys: [] };
  const [values, known] = await Promise.all([
    variables.reveal(projectId, environment),
    variables.list(projectId, environment),
  ]);
  return { values, secretKeys: known.filter(({ secret }) => secret).map(({ key }) => key) };
}
