import { cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import { isId } from "../../domain/id.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { UploadSession } from "../../domain/projects/upload.ts";
import type { CloudApi } from "../../ports/cloud/cloud_api.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { UploadFiles } from "../../ports/projects/upload_files.ts";
import type { UploadSessions } from "../../ports/projects/upload_sessions.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { cloudAnswer } from "./cloud_answer.ts";
import type { Promotion } from "./promotion.ts";
import { handOverProject, type HandOverProjectPorts } from "./hand_over_project.ts";

export interface PromoteProjectPorts extends HandOverProjectPorts {
  readonly clock: Clock;
  readonly cloudApi: CloudApi;
  readonly projects: Projects;
  readonly uploadFiles: UploadFiles;
  readonly uploadSessions: UploadSessions;
}

/** The cloud's answer to a deployment request. */
export type CloudDeployment = Readonly<Record<string, unknown>>;

/** Longest time for the transfer of an uploaded folder. */
const TRANSFER_MS = 30 * 60_000;

/**
 * Creates or updates a project in the cloud under the same id, with its settings and variables, hands the uploaded folder
 * over, and starts the build there. Each step can be repeated. Only once the cloud has accepted the deployment, the
 * project is marked as a cloud project here.
 */
export function promoteProject(ports: PromoteProjectPorts) {
  const handOver = handOverProject(ports);
  return async function (promotion: Promotion): Promise<CloudDeployment> {
    const { request, route, upload } = promotion;
    const { id, organizationId } = promotion.project;
    const signal = AbortSignal.timeout(TRANSFER_MS);
    await handOver(promotion, signal);
    const uploadSessionId = upload && (await sentUpload(promotion, upload, signal));
    const { deployTarget: _target, serverId: _server, buildStrategy: _strategy, ...wanted } = request;
    const answer = await asked(promotion, route, { ...wanted, ...(uploadSessionId && { uploadSessionId }) }, signal);
    checkStarted(answer, id);
    const place = { location: "cloud", serverId: null } as const;
    const change = ({ settings }: Project) => ({ place, settings: { ...settings, inCloud: true } });
    await ports.projects.change(organizationId, id, { at: ports.clock.now(), change });
    if (upload) await discard(upload);
    return answer;
  };

  async function asked(
    promotion: Promotion,
    path: string,
    body: object,
    signal: AbortSignal,
  ): Promise<CloudDeployment> {
    const { cloud, actingMember } = promotion;
    const headers = new Headers({ "content-type": "application/json" });
    const request = { method: "POST", path, headers, body: JSON.stringify(body), actingMember, signal };
    return cloudAnswer(await ports.cloudApi.send(cloud, request));
  }

  /** Uploads the folder of a session to the cloud; resolves to the id of the session there. */
  async function sentUpload(promotion: Promotion, { id, name }: UploadSession, signal: AbortSignal): Promise<string> {
    const { cloud, actingMember } = promotion;
    const opened = { mode: "cloud", ...(name !== null && { name }) };
    const { sessionId } = await asked(promotion, "/api/projects/folder/session", opened, signal);
    if (typeof sessionId !== "string") throw cloudUnreadable();
    const response = await ports.cloudApi.send(cloud, {
      method: "POST",
      path: `/api/projects/folder/upload/${encodeURIComponent(sessionId)}`,
      headers: new Headers({ "content-type": "application/gzip" }),
      body: await ports.uploadFiles.archive(id),
      actingMember,
      limitMs: TRANSFER_MS,
      signal,
    });
    await cloudAnswer(response);
    return sessionId;
  }

  /** Removes a session whose folder the cloud has now. What cannot be removed expires within the hour. */
  async function discard({ id, organizationId, userId }: UploadSession): Promise<void> {
    await ports.uploadSessions.remove(organizationId, userId, id);
    await ports.uploadFiles.discard(id).catch(() => {});
  }
}

/** Throws unless the cloud has started a deployment of this project. */
function checkStarted({ data, ...fields }: CloudDeployment, projectId: string): void {
  const { deployment_id: id, project_id: ofProject = projectId } = {
    ...fields,
    ...(data as object | undefined),
  } as Record<string, unknown>;
  if (typeof id !== "string" || !isId("dep", id) || ofProject !== projectId) throw cloudUnreadable();
}
