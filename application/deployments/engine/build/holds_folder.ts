import type { Run } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"releaseFolders">;

/** Returns whether the source of a deployment contains a folder; always true for the root. */
export async function holdsFolder({ deployment, ports }: StepRun, folder: string): Promise<boolean> {
  const parts = folder.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0) return true;
  const wanted = parts.join("/");
  for await (const { path, type } of ports.releaseFolders.entries(deployment.id)) {
    if (path.startsWith(`${wanted}/`) || (path === wanted && type === "folder")) return true;
  }
  return false;
}
