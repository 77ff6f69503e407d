import { grantsOnProjects } from "../../domain/cloud/acting_member.ts";
import { cloudNotLinked } from "../../domain/cloud/cloud_failures.ts";
import { Failure, invalid, invalidField, notFound } from "../../domain/failure.ts";
import { demand, type Grant, type Principal } from "../../domain/identity/permission.ts";
import { type Project, sourceOf } from "../../domain/projects/project.ts";
import type { UploadSession } from "../../domain/projects/upload.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { DeployRequest } from "../deployments/deploy_project.ts";
import { findUploadSession } from "../projects/uploads/find_upload_session.ts";
import { answerInTime, type AnswerInTimePorts } from "../system/answer_in_time.ts";
import { actingFor } from "./acting_for.ts";
import { findCloud, type FindCloudPorts } from "./find_cloud.ts";
import { type CloudDeployment, promoteProject, type PromoteProjectPorts } from "./promote_project.ts";
import type { Promotion } from "./promotion.ts";

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
  const underWay = new Map<string, Promise<CloudDeployment>>();

  return async function (
    by: Principal,
    request: DeployRequest,
    route: Promotion["route"],
  ): Promise<CloudDeployment | undefined> {
    if (ports.mode === "cloud") return undefined;
    const upload = request.uploadSessionId === undefined ? undefined : await findUpload(by, request.uploadSessionId);
    const project = await ports.projects.find(by.organizationId, request.projectId);
    if (!project) throw notFound("project");
    if (targetOf(project, request, upload) !== "cloud") return undefined;
    if (request.serverId !== undefined)
      throw invalidField("serverId", 'a server is only for the deploy target "server"');
    demand(by, "deployment:write", { id: "", projectId: project.id });
    if (project.location !== "cloud") demand(by, "project:write", { id: project.id });
    await checkPromotable(project, request, upload);
    const cloud = await find(by.organizationId);
    if (!cloud) throw cloudNotLinked();
    const actingMember = await act(by, [...grantsOnProjects(by, [project.id]), ...grantsOnRepository(project)]);
    return inTime(once({ cloud, project, actingMember, request, route, upload }), takesLong);
  };

  /** Carries a promotion out. Repeated requests for the same upload share one, which outlives its caller. */
  function once(promotion: Promotion): Promise<CloudDeployment> {
    const key = promotion.upload?.id;
    const known = key === undefined ? undefined : underWay.get(key);
    if (known) return known;
    const work = promote(promotion);
    if (key === undefined) return work;
    underWay.set(key, work);
    return work.finally(() => underWay.delete(key));
  }

  async function checkPromotable(
    { id, settings }: Project,
    { services = settings.services }: DeployRequest,
    upload: UploadSession | undefined,
  ): Promise<void> {
    if (upload && upload.state !== "ready")
      throw invalid("upload_not_ready", "Cannot deploy: upload the folder to this session first, or open a new one");
    if ((await ports.adoptions.list(id)).length > 0)
      throw invalid("target_unsupported", "Cannot deploy to the cloud: this project was adopted from a server");
    const isImagesOnly = services?.length && services.every(({ image, build }) => image && !build);
    if (upload || isImagesOnly) return;
    if (sourceOf(settings) === "local")
      throw invalid("target_unsupported", "Cannot deploy a folder of this machine to the cloud: upload it instead");
    if (sourceOf(settings) === "upload")
      throw invalidField("uploadSessionId", "the project has no repository: upload its folder and name the session");
  }
}

/** The repository that a member who sees it has linked to a project is one that the cloud may read for it. */
function grantsOnRepository({ settings: { gitAccess, gitOwner, gitRepo } }: Project): readonly Grant[] {
  if (!gitAccess || !gitOwner || !gitRepo) return [];
  return [{ resource: "githost", id: `${gitOwner}/${gitRepo}`, action: "read" }];
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
