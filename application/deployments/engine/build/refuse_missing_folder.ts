import type { ServiceOrigin } from "../../../../domain/services/service_spec.ts";
import { invalid } from "../../../../domain/failure.ts";
import { holdsFolder } from "./holds_folder.ts";
import type { Run } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"releaseFolders">;

/** The folder of the source that a service is built in; `null` for an image. */
export function buildFolder(from: ServiceOrigin): string | null {
  if (from.kind === "image") return null;
  return from.kind === "app" ? from.rootDirectory : from.context;
}

/** Rejects a service whose build folder is missing in the source. */
export async function refuseMissingFolder(run: StepRun, name: string, from: ServiceOrigin): Promise<void> {
  const folder = buildFolder(from);
  if (folder === null || (await holdsFolder(run, folder))) return;
  const sentence = `Cannot build ${name}: there is no folder ${folder} in this source`;
  throw invalid("root_directory_missing", `${sentence}. Correct its rootDirectory or its build context`);
}
