import { cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import type { Environment } from "../../domain/deployments/deployment.ts";
import type { CloudApi } from "../../ports/cloud/cloud_api.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import { cloudAnswer } from "./cloud_answer.ts";
import type { Promotion } from "./promotion.ts";

export interface HandOverVariablesPorts {
  readonly cloudApi: CloudApi;
  readonly variables: Variables;
}

/** Makes the variables of the cloud's copy of a project equal to those here, for production and for previews. */
export function handOverVariables({ cloudApi, variables }: HandOverVariablesPorts) {
  return async function (promotion: Promotion, signal: AbortSignal): Promise<void> {
    for (const environment of ["production", "preview"] as const) await handOver(promotion, environment, signal);
  };

  async function handOver(
    { cloud, project, actingMember }: Pick<Promotion, "cloud" | "project" | "actingMember">,
    environment: Environment,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `/api/projects/${project.id}/env?environment=${environment}`;
    const listed = await cloudAnswer(await cloudApi.send(cloud, { method: "GET", path, actingMember, signal }));
    const own = await variables.list(project.id, environment);
    const values = await variables.reveal(project.id, environment);
    const upserts = own.map(({ key, secret }) => ({ key, value: values.get(key)?.reveal() ?? "", secret }));
    const deletes = keysOf(listed["data"]).filter((key) => !values.has(key));
    if (upserts.length === 0 && deletes.length === 0) return;
    const headers = new Headers({ "content-type": "application/json" });
    const body = JSON.stringify({ upserts, deletes });
    await cloudAnswer(await cloudApi.send(cloud, { method: "PATCH", path, headers, body, actingMember, signal }));
  }
}

function keysOf(listed: unknown): readonly string[] {
  if (!Array.isArray(listed)) throw cloudUnreadable();
  return listed.map((variable: unknown) => {
    const key = typeof variable === "object" && variable !== null && "key" in variable ? variable.key : undefined;
    if (typeof key !== "string") throw cloudUnreadable();
    return key;
  });
}
