import { cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import type { Environment } from "../../domain/deployments/deployment.ts";
import type { Grant } from "../../domain/identity/permission.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { CloudApi } from "../../ports/cloud/cloud_api.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import { cloudAnswer } from "./cloud_answer.ts";
import { cloudSettings } from "./cloud_settings.ts";
import type { Promotion } from "./promotion.ts";

export interface HandOverProjectPorts {
  readonly cloudApi: CloudApi;
  readonly variables: Variables;
}

/** A project, and the cloud that gets it. */
export type HandedOver = Pick<Promotion, "cloud" | "project" | "actingMember">;

const JSON_BODY = new Headers({ "content-type": "application/json" });

/**
 * Makes the cloud's copy of a project equal to the one here, under the same id: its settings, and its variables for
 * production and for previews. Creates it if it does not exist.
 */
export function handOverProject({ cloudApi, variables }: HandOverProjectPorts) {
  return async function (handed: HandedOver, signal: AbortSignal): Promise<void> {
    const { cloud } = handed;
    const { grants } = handed.actingMember;
    const actingMember = { ...handed.actingMember, grants: [...grants, ...grantsOnRepository(handed.project)] };
    const { id, name, slug, settings } = handed.project;
    const body = JSON.stringify({ projectId: id, name, slug, ...cloudSettings(settings) });
    const request = { method: "POST", path: "/api/projects/ensure", headers: JSON_BODY, body, actingMember, signal };
    await cloudAnswer(await cloudApi.send(cloud, request));
    for (const environment of ["production", "preview"] as const) await handOverVariables(handed, environment, signal);
  };

  async function handOverVariables(
    { cloud, project, actingMember }: HandedOver,
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
    const body = JSON.stringify({ upserts, deletes });
    const request = { method: "PATCH", path, headers: JSON_BODY, body, actingMember, signal };
    await cloudAnswer(await cloudApi.send(cloud, request));
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

/** The repository that a member who sees it has linked to a project is one that the cloud may read for it. */
function grantsOnRepository({ settings: { gitAccess, gitOwner, gitRepo } }: Project): readonly Grant[] {
  if (!gitAccess || !gitOwner || !gitRepo) return [];
  return [{ resource: "githost", id: `${gitOwner}/${gitRepo}`, action: "read" }];
}
