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
