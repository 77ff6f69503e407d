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
