import type { ActingMember } from "../../domain/cloud/acting_member.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { UploadSession } from "../../domain/projects/upload.ts";
import type { CloudAddress } from "../../ports/cloud/cloud_api.ts";
import type { DeployRequest } from "../deployments/deploy_project.ts";

/** A project on its way to the cloud. */
export interface Promotion {
  readonly cloud: CloudAddress;
  readonly project: Project;
  readonly actingMember: ActingMember;
  readonly request: DeployRequest;
  /** The cloud's route that starts the deployment. Both take the fields of a deployment request. */
  readonly route: "/api/deployments" | "/api/deployments/build/access";
  readonly upload: UploadSession | undefined;
}
