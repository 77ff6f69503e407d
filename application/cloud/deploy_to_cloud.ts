import { grantsOnProjects } from "../../domain/cloud/acting_member.ts";
import { cloudNotLinked } from "../../domain/cloud/cloud_failures.ts";
import { Failure, invalid, invalidField, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import { type Project, sourceOf } from "../../domain/projects/project.ts";
import { type UploadSession, uploadUsed } from "../../domain/projects/upload.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { DeployRequest } from "../deployments/deploy_project.ts";
import { findUploadSession } from "../projects/uploads/find_upload_session.ts";
import { answerInTime, type AnswerInTimePorts } from "../system/answer_in_time.ts";
import { actingFor } from "./acting_for.ts";
import { findCloud, type FindCloudPorts } from "./find_cloud.ts";
import { type CloudDeployment, promoteProject, type PromoteProjectPorts } from "./promote_project.ts";
import type { Promotion } from "./promotion.ts";

/** How long the answer to a promotion of an upload is kept for repeated requests. */
const KEPT_MS = 10 * 60_000;

export interface DeployToCloudPorts extends FindCloudPorts, AnswerInTimePorts, PromoteProjectPorts {
  readonly adoptions: Adoptions;
  readonly mode: "self-hosted" | "cloud";
  readonly users: Users;
}

/**
 * Deploys a project to the cloud that its organization is linked to (promote), if the request, its upload session or the
 * project's location says so, and resolves to the cloud's answer; else resolves to `undefined`. Moving a project there
 * requires `project:write`.
 */
export function deployToCloud(ports: DeployToCloudPorts) {
  const find = findCloud(ports);
  const findUpload = findUploadSession(ports);
  const act = actingFor(ports);
  const promote = promoteProject(ports);
  const inTime = answerInTime(ports);
  /** Promotions of uploads that are under way, or ended a while ago, by their request. */
  const underWay = new Map<string, Promise<CloudDeployment>>();
  /** Their upload sessions. */
  const sent = new Set<string>();

  return async function (
    by: Principal,
    request: DeployRequest,
    route: Promotion["route"],
  ): Promise<CloudDeployment | undefined> {
    if (ports.mode === "cloud") return undefined;
    const known = underWay.get(keyOf(by, request));
    if (known) return inTime(known, takesLong);
    const upload = request.uploadSessionId === undefined ? undefined : await findUpload(by, request.uploadSessionId);
    const project = await ports.projects.find(by.organizationId, request.projectId);
    if (!project) throw notFound("project");
    if (targetOf(project, request, upload) !== "cloud") return undefined;
    if (request.serverId !== undefined)
      throw invalidField("serverId", 'a server is only for the deploy target "server"');
    demand(by, "deployment:write", { id: "", projectId: project.id });
    if (project.location !== "cloud") demand(by, "project:write", { id: project.id });
    await checkPromotable(ports, project, request, upload);
    const cloud = await find(by.organizationId);
    if (!cloud) throw cloudNotLinked();
    const actingMember = await act(by, grantsOnProjects(by, [project.id]));
    return inTime(once({ cloud, project, actingMember, request, route, upload }, keyOf(by, request)), takesLong);
  };

  /** Carries a promotion out, which outlives its caller. That of an upload is shared by repeated requests. */
  function once(promotion: Promotion, key: string): Promise<CloudDeployment> {
    const { upload } = promotion;
    if (!upload) return promote(promotion);
    if (sent.has(upload.id)) throw uploadUsed();
    sent.add(upload.id);
    const forget = () => {
      sent.delete(upload.id);
      underWay.delete(key);
    };
    const work = promote(promotion);
    underWay.set(key, work);
    work.then(() => setTimeout(forget, KEPT_MS).unref(), forget);
    return work;
  }
}

/** Tells requests of the same caller for the same thing from others. */
function keyOf({ userId, organizationId }: Principal, request: DeployRequest): string {
  return request.uploadSessionId === undefined ? "" : JSON.stringify([organizationId, userId, request]);
}

/** Returns where a request wants a project deployed: by itself, by its upload, or where the project is. */
function targetOf({ location }: Project, request: DeployRequest, upload: UploadSession | undefined): string {
  if (request.deployTarget) return request.deployTarget;
  if (request.serverId !== undefined) return "server";
  return upload?.mode === "cloud" ? "cloud" : location;
}

function takesLong(): Failure {
  const message =
    "Cannot confirm the deployment yet: its folder is still being sent to the cloud. That goes on in the background; " +
    "repeat the request to get its result";
  return new Failure("unavailable", "promotion_takes_long", message, { retryAfter: 10 });
}

/** Refuses what the cloud could not build. */
async function checkPromotable(
  { adoptions }: Pick<DeployToCloudPorts, "adoptions">,
  { id, settings }: Project,
  { services = settings.services }: DeployRequest,
  upload: UploadSession | undefined,
): Promise<void> {
  if (upload && upload.state !== "ready")
    throw invalid("upload_not_ready", "Cannot deploy: upload the folder to this session first, or open a new one");
  if ((await adoptions.list(id)).length > 0)
    throw invalid("target_unsupported", "Cannot deploy to the cloud: this project was adopted from a server");
  const isImagesOnly = services?.length && services.every(({ image, build }) => image && !build);
  if (upload || isImagesOnly) return;
  if (sourceOf(settings) === "local")
    throw invalid("target_unsupported", "Cannot deploy a folder of this machine to the cloud: upload it instead");
  if (sourceOf(settings) === "upload")
    throw invalidField("uploadSessionId", "the project has no repository: upload its folder and name the session");
}
