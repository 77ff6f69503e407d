/**
 * Many clients of one event stream, in a separate process, because a Bun process limits its concurrent requests.
 * Arguments: address, token and number of clients. Prints "open" once all are connected, and at the end how many saw
 * which last event with how many gaps.
 */
const [address = "", token = "", count = "1"] = process.argv.slice(2);

/** Reads an event stream to its end; returns the last sequence number and the number of gaps. */
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
