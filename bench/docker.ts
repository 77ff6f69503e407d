/** Runs `docker` with these arguments; resolves to its output. */
export async function docker(words: readonly string[]): Promise<string> {
  const child = Bun.spawn(["docker", ...words], {
    env: { ...process.env, DOCKER_BUILDKIT: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, problem] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`docker ${words.join(" ")}: ${problem}`);
  return output.trim();
}

/**
 * Engines have only some thirty default address pools, which may be in use: as Slipway does, picks a subnet outside of
 * them.
 */
export function subnet(): string {
  const [a, b] = [Math.floor(Math.random() * 30), Math.floor(Math.random() * 256)];
  return `10.${220 + a}.${b}.0/24`;
}

/** The lines that a command prints; none where there is no engine. */
export async function listed(words: readonly string[]): Promise<readonly string[]> {
  const output = await docker(words).catch(() => "");
  return output.split("\n").filter((line) => line !== "");
}

/** Removes the resources that a command lists, but those to keep. A server may be removing them at the same time. */
export async function drop(
  list: readonly string[],
  words: readonly string[],
  kept: ReadonlySet<string> = new Set(),
): Promise<void> {
  const found = new Set(await listed(list)).difference(kept);
  if (found.size > 0) await docker([...words, ...found]).catch(() => {});
}

/** Removes all resources with a label. */
export async function dropLabelled(label: string): Promise<void> {
  const marked = ["--quiet", "--filter", `label=${label}`];
  await drop(["ps", "--all", ...marked], ["rm", "--force", "--volumes"]);
  await drop(["network", "ls", ...marked], ["network", "rm"]);
  await drop(["volume", "ls", ...marked], ["volume", "rm"]);
  await drop(["images", ...marked], ["rmi", "--force"]);
}
