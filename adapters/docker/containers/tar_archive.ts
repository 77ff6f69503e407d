import { TAR_END, tarHead, tarPadding } from "../../../domain/archive/tar_writer.ts";
import type { ServiceFile } from "../../../domain/services/service_spec.ts";

/** Packs small files into a tar with their owners and modes; leaves their parent folders to the unpacker. */
export function tarArchive(files: readonly ServiceFile[]): Uint8Array {
  const pieces = files.flatMap(({ target, content, mode, uid, gid }) => {
    const bytes = new TextEncoder().encode(content);
    const name = target.replace(/^\/+/, "");
    const head = tarHead({ name, kind: "file", size: bytes.length, mode, modifiedMs: Date.now(), uid, gid });
    return [head, bytes, tarPadding(bytes.length)];
  });
  return new Uint8Array(Buffer.concat([...pieces, TAR_END]));
}
