import { detect, type Detection } from "../../domain/detection/detect.ts";
import { isManifest } from "../../domain/detection/manifests.ts";
import { invalid } from "../../domain/failure.ts";
import type { Principal } from "../../domain/permission.ts";
import type { Clock } from "../../ports/clock.ts";
import type { UploadFiles } from "../../ports/upload_files.ts";
import type { UploadSessions } from "../../ports/upload_sessions.ts";
import { findUploadSession } from "./find_upload_session.ts";

const MANIFEST_BYTES = 1_048_576;
const MANIFESTS = 500;

export interface ScanUploadPorts {
  readonly clock: Clock;
  readonly uploadFiles: UploadFiles;
  readonly uploadSessions: UploadSessions;
}

/** Says what an uploaded folder is and how it would be built; runs nothing of it. */
export function scanUpload(ports: ScanUploadPorts) {
  const find = findUploadSession(ports);
  return async function (by: Principal, id: string): Promise<Detection> {
    const { state } = await find(by, id);
    if (state !== "ready") throw invalid("upload_not_ready", "Cannot scan: upload the folder to this session first");
    const paths: string[] = [];
    const texts = new Map<string, string>();
    for await (const { path, type } of ports.uploadFiles.list(id)) {
      if (type === "file") paths.push(path);
    }
    for (const path of paths.filter(isManifest).slice(0, MANIFESTS)) {
      const bytes = await ports.uploadFiles.read(id, path, { maxBytes: MANIFEST_BYTES });
      if (bytes) texts.set(path, new TextDecoder().decode(bytes));
    }
    return detect({ paths, text: (path) => texts.get(path) });
  };
}
