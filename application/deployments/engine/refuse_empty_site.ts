import type { Deployment } from "../../../domain/deployment/deployment.ts";
import { invalid } from "../../../domain/failure.ts";
import type { Run } from "./run.ts";

/** A site without a file would answer everything with "not found". */
export async function refuseEmptySite(run: Run, { artifactOf, id, plan }: Deployment, site: string): Promise<void> {
  for await (const { path, type } of run.ports.releaseFolders.entries(artifactOf ?? id)) {
    if (type !== "folder" && (site === "" || path.startsWith(`${site}/`))) return;
  }
  throw invalid(
    "output_missing",
    `Cannot serve this: there is no file in ${plan.outputDirectory ?? (site || "it")}. Set outputDirectory to where the build leaves its result`,
  );
}
