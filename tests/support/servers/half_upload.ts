import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../eventually.ts";
import { OpenRequest } from "./http_client.ts";
import { randomInput } from "../inputs/random_input.ts";
import type { SlipwayProcess } from "./slipway_process.ts";
import { file, tarGz } from "../inputs/tar_archive.ts";

const SENT = 150_000;

/**
 * Starts an upload and resolves once the server is processing it: before that, the request does not count as running.
 */
export async function halfUpload(slipway: SlipwayProcess) {
  const { address, owner } = slipway;
  const session = await slipway.call("POST", "/api/projects/folder/session", { token: owner, body: {} });
  const id = session.body.sessionId as string;
  const archive = tarGz([file("index.html", randomInput("half an upload").bytes(2 * SENT))]);
  const request = await OpenRequest.open(address, { path: `/api/projects/folder/upload/${id}`, token: owner });
  await request.write(archive.subarray(0, SENT));
  const home = join(slipway.folder, "uploads", id);
  await eventually(
    () => readdir(home).catch(() => []),
    (names) => names.length > 0,
  );
  return {
    id,
    home,
    cut: () => request.cut(),
    async finish() {
      await request.write(archive.subarray(SENT));
      await request.finish();
      return request.answer();
    },
  };
}
