/**
 * Many who watch one feed, in a process of their own, as one process of Bun has a limit of requests at once. Started with address, token and
 * number; says "open" once all are there, and at the end how many saw which last event with how many left out.
 */
const [address = "", token = "", count = "1"] = process.argv.slice(2);

/** Reads a feed to its end, and tells the last number and how many were left out. */
export async function watch(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("latin1");
  let [last, gaps, rest] = [0, 0, ""];
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes)).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (!line.startsWith("id: ")) continue;
      const seq = Number(line.slice(4));
      if (seq !== last + 1) gaps++;
      last = seq;
    }
  }
  return `${last} ${gaps}`;
}

const headers = { authorization: `Bearer ${token}` };
const feeds = await Promise.all(Array.from({ length: Number(count) }, () => fetch(address, { headers })));
process.stdout.write("open\n");
const seen = await Promise.all(feeds.map(({ body }) => watch(body!)));
const counts = Object.fromEntries(
  Map.groupBy(seen, (each) => each)
    .entries()
    .map(([each, all]) => [each, all.length]),
);
process.stdout.write(`${JSON.stringify(counts)}\n`);
