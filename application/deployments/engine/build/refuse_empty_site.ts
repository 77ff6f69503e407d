import type { Deployment } from "../../../../domain/deployments/deployment.ts";
import { type Failure, invalid } from "../../../../domain/failure.ts";
import type { Run } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"releaseFolders">;

/** Rejects a site without files, which would answer every request with 404. */
export async function refuseEmptySite(
  run: StepRun,
  { artifactOf, id }: Pick<Deployment, "artifactOf" | "id">,
  site: string,
): Promise<void> {
  let isThere = site === "";
  for await (const { path, type } of run.ports.releaseFolders.entries(artifactOf ?? id)) {
    if (type !== "folder" && (site === "" || path.startsWith(`${site}/`))) return;
    isThere ||= path === site || path.startsWith(`${site}/`);
  }
  throw outputMissing(
    isThere ? `there is no file in ${site === "" ? "it" : `the folder ${site}`}` : `there is no folder ${site}`,
  );
}

/** The failure of a site whose files are not in the output directory after the build. */
export function outputMissing(why: string): Failure {
  return invalid(
    "output_missing",
    `Cannot serve this: ${why} after the build. Set outputDirectory to the folder that it writes to`,
  );
}
