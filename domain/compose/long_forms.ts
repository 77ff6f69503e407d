import { canonicalService } from "./canonical_service.ts";
import type { ComposeMap } from "./compose_node.ts";

/** Rewrites the services of a file to their long forms. */
export function longForms(root: ComposeMap): ComposeMap {
  const services = root.entries.get("services");
  if (services?.kind !== "map") return root;
  const long = [...services.entries].map(([name, service]) => [name, canonicalService(service)] as const);
  return { ...root, entries: new Map(root.entries).set("services", { ...services, entries: new Map(long) }) };
}
