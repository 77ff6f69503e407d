import type { ApplicationPorts } from "../application_ports.ts";
import { changeProject } from "./change_project.ts";
import { changeVariables } from "./change_variables.ts";
import { createProject } from "./create_project.ts";
import { findDeployKey } from "./deploy_keys/find_deploy_key.ts";
import { forgetHostKey } from "./deploy_keys/forget_host_key.ts";
import { makeDeployKey } from "./deploy_keys/make_deploy_key.ts";
import { removeDeployKey } from "./deploy_keys/remove_deploy_key.ts";
import { ensureProject } from "./ensure_project.ts";
import { findProject } from "./find_project.ts";
import { listProjects } from "./list_projects.ts";
import { listVariables } from "./list_variables.ts";
import { refuseLocalSource } from "./refuse_local_source.ts";
import { removeProject } from "./remove_project.ts";
import { switchAutoDeploy } from "./switch_auto_deploy.ts";
import { switchPreviews } from "./switch_previews.ts";
import { discardUploadSession } from "./uploads/discard_upload_session.ts";
import { listUploadSessions } from "./uploads/list_upload_sessions.ts";
import { openUploadSession } from "./uploads/open_upload_session.ts";
import { receiveUpload } from "./uploads/receive_upload.ts";
import { scanUpload } from "./uploads/scan_upload.ts";

export type ProjectUseCases = ReturnType<typeof projectUseCases>;

/** The use cases of projects, their variables, deploy keys and uploads. */
export function projectUseCases(ports: ApplicationPorts) {
  return {
    changeProject: changeProject(ports),
    changeVariables: changeVariables(ports),
    createProject: createProject(ports),
    discardUploadSession: discardUploadSession(ports),
    ensureProject: ensureProject(ports),
    findDeployKey: findDeployKey(ports),
    findProject: findProject(ports),
    forgetHostKey: forgetHostKey(ports),
    listProjects: listProjects(ports),
    listUploadSessions: listUploadSessions(ports),
    listVariables: listVariables(ports),
    makeDeployKey: makeDeployKey(ports),
    openUploadSession: openUploadSession(ports),
    receiveUpload: receiveUpload(ports),
    refuseLocalSource: refuseLocalSource(ports),
    removeDeployKey: removeDeployKey(ports),
    removeProject: removeProject(ports),
    scanUpload: scanUpload(ports),
    switchAutoDeploy: switchAutoDeploy(ports),
    switchPreviews: switchPreviews(ports),
  };
}
