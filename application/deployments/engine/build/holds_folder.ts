import type { Run } from "../run.ts";

/** Tells whether the source of a deployment has a folder; the source itself is always there. */
export async function holdsFolder({ deployment, ports }: Run, folder: string): Promise<boolean> {
  const parts = folder.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0) return true;
  const wanted = parts.join("/");
  for await (const { path, type } of ports.releaseFolders.entries(deployment.id)) {
    if (path.startsWith(`${wanted}/`) || (path === wanted && type === "folder")) return true;
  }
  return false;
}
