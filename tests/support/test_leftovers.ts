import { run } from "./command.ts";

/** The label that everything made by a test in Docker carries. */
export const TEST_LABEL = "slipway.test";

/** Removes containers, networks and volumes that tests have left in Docker. */
export async function removeTestLeftovers(): Promise<void> {
  const label = ["--filter", `label=${TEST_LABEL}`, "--quiet"];
  await each(["docker", "ps", "--all", ...label], ["docker", "rm", "--force", "--volumes"]);
  await each(["docker", "network", "ls", ...label], ["docker", "network", "rm"]);
  await each(["docker", "volume", "ls", ...label], ["docker", "volume", "rm", "--force"]);
}

async function each(list: readonly string[], remove: readonly string[]): Promise<void> {
  const ids = (await run(list)).output.split("\n").filter(Boolean);
  if (ids.length > 0) await run([...remove, ...ids]);
}
