const LOOK_MS = 20;

/** By how many bytes the memory of this process grows at most while something is done. */
export async function memoryGrowth(work: () => Promise<void>): Promise<number> {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let highest = before;
  const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), LOOK_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return highest - before;
}
