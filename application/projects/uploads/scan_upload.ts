import type { Detection } from "../../../domain/detection/detection.ts";
import { invalid } from "../../../domain/failure.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import type { UploadFiles } from "../../../ports/projects/upload_files.ts";
import type { UploadSessions } from "../../../ports/projects/upload_sessions.ts";
import { detectProject, type DetectProjectPorts } from "./detect_project.ts";
import { findUploadSession } from "./find_upload_session.ts";

export interface ScanUploadPorts extends DetectProjectPorts {
  readonly uploadFiles: UploadFiles;
  readonly uploadSessions: UploadSessions;
}

/** Detects what an uploaded folder is and how to build it; executes nothing of it. */
export function scanUpload(ports: ScanUploadPorts) {
  const find = findUploadSession(ports);
  return async function (by: Principal, id: string): Promise<Detection> {
    const { state } = await find(by, id);
    if (state === "used")
      throw invalid("upload_not_ready", "Cannot scan: this folder was deployed already. Upload it to a new session");
    if (state !== "ready") throw invalid("upload_not_ready", "Cannot scan: upload the folder to this session first");
    const { uploadFiles } = ports;
    return detectProject(ports, {
      entries: () => uploadFiles.list(id),
      read: (path, options) => uploadFiles.read(id, path, options),
    });
  };
}
