import { conflict, Failure } from "../../../domain/failure.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import type { ReceivedUpload, UploadFiles, UploadLimits } from "../../../ports/projects/upload_files.ts";
import type { UploadSessions } from "../../../ports/projects/upload_sessions.ts";
import { findUploadSession } from "./find_upload_session.ts";

const LEASE_MS = 30_000;

export interface ReceiveUploadPorts {
  readonly uploadFiles: UploadFiles;
  readonly uploadLimits: UploadLimits;
  readonly uploadSessions: UploadSessions;
}

/** The incoming archive, with its announced size. */
export interface IncomingArchive {
  readonly stream: ReadableStream<Uint8Array>;
  readonly announcedBytes: number | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Receives an uploaded folder into its session and replaces the former content. On failure it keeps nothing, and the
 * session stays open for a retry.
 */
export function receiveUpload(ports: ReceiveUploadPorts) {
  const { uploadFiles, uploadLimits, uploadSessions } = ports;
  const find = findUploadSession(ports);
  return async function (by: Principal, id: string, archive: IncomingArchive): Promise<ReceivedUpload> {
    const { state } = await find(by, id);
    if (state === "used") {
      throw conflict("upload_done", "Cannot upload again: the folder of this session was deployed. Open a new one");
    }
    if ((archive.announcedBytes ?? 0) > uploadLimits.maxBytes) throw tooLarge(uploadLimits.maxBytes);
    const lease = await uploadSessions.begin(id, LEASE_MS);
    if (lease === undefined) {
      throw conflict("upload_running", "Cannot upload: another upload to this session is in progress");
    }
    const lost = new AbortController();
    const hold = async () => {
      if (!(await uploadSessions.renew(id, lease, LEASE_MS))) lost.abort(await whyLost(by, id));
    };
    const confirm = () => hold().then(() => lost.signal.throwIfAborted());
    const renewal = setInterval(() => void hold().catch(() => {}), LEASE_MS / 3);
    try {
      // Removes the former upload and leftovers of a dead receiver, but nothing of a receiver that has taken over.
      await confirm();
      await uploadFiles.discard(id);
      const received = await uploadFiles.receive(id, archive.stream, {
        limits: uploadLimits,
        signal: AbortSignal.any([lost.signal, ...(archive.signal ? [archive.signal] : [])]),
        // An upload that lost its lease must not replace the folder of the one that took over.
        confirm,
      });
      if (!(await uploadSessions.complete(id, lease, received))) throw await whyLost(by, id);
      return received;
    } catch (error) {
      await uploadSessions.giveUp(id, lease).catch(() => {});
      throw error;
    } finally {
      clearInterval(renewal);
    }
  };

  async function whyLost({ organizationId }: Principal, id: string): Promise<Failure> {
    if (await uploadSessions.find(organizationId, id)) {
      const sentence = "Cannot finish this upload: it stalled, and another one replaced it";
      return conflict("upload_taken_over", sentence);
    }
    // No upload can write into a session that is gone, so any files left are from this upload.
    await uploadFiles.discard(id).catch(() => {});
    return conflict("upload_discarded", "Cannot finish this upload: its session ended meanwhile. Open a new one");
  }
}

function tooLarge(maxBytes: number): Failure {
  return new Failure("too_large", "upload_too_large", `Cannot accept this upload: it is larger than ${maxBytes} bytes`);
}
