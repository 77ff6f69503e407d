const LOOK_MS = 20;

/** The peak growth of this process's memory (RSS), in bytes, during some work. */
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
