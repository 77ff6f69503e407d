import type { Deployment } from "../../../../domain/deployments/deployment.ts";
import { type Failure, invalid } from "../../../../domain/failure.ts";
import type { Run } from "../run.ts";

/** A site without a file would answer everything with "not found". */
export async function refuseEmptySite(
  run: Run,
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

/** A site whose files are not where they should be after its build. */
export function outputMissing(why: string): Failure {
  return invalid(
    "output_missing",
    `Cannot serve this: ${why} after the build. Set outputDirectory to the folder that it writes to`,
  );
}
