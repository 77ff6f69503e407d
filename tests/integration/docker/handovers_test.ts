import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { dockerServices } from "../../support/peers/docker_services.ts";
import { eventually } from "../../support/eventually.ts";
import { answerOf } from "../../contracts/runtime.ts";
import { serviceRequest } from "../../contracts/service_runtime.ts";

const GRACE = { graceMs: 0 };
const HANDOVERS = 10;

/** Responds on port 3000 with a word, and exits at once on SIGTERM. */
function saying(word: string): string {
  return `mkdir /tmp/w; echo ${word} >/tmp/w/index.html; exec httpd -f -p 3000 -h /tmp/w`;
}

/** Resolves `api` again and again; prints the number of addresses and the response of the first one. */
const ASKING = String.raw`while :; do
  set -- $(nslookup -type=a api | sed -n '/^Name/,$s/^Address: *//p')
  echo "$# $(printf 'GET / HTTP/1.0\r\n\r\n' | nc -w 30 $1 3000 | tail -n 1)"
  sleep 0.02
done`;

/** A connection to an echo server. */
async function echoing(port: number): Promise<{ say(word: string): Promise<string>; readonly socket: Socket }> {
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  socket.on("data", (bytes) => (heard += bytes.toString()));
  const failed = new Promise<never>((_, reject) => socket.once("close", () => reject(new Error("closed"))));
  failed.catch(() => {});
  const say = async (word: string) => {
    heard = "";
    socket.write(`${word}\n`);
    return Promise.race([
      failed,
      eventually(
        async () => heard,
        (text) => text.endsWith("\n"),
      ),
    ]);
  };
  return { say, socket };
}

/** The same, once the echo server responds. */
async function connected(port: number) {
  const opened = await eventually(
    async () => {
      const attempt = await echoing(port);
      if ((await attempt.say("first").catch(() => "")) === "first\n") return attempt;
      attempt.socket.destroy();
      return undefined;
    },
    (attempt) => attempt !== undefined,
  );
  return opened!;
}

test.concurrent("introduce() breaks no connection, of visitors or between services, nor does remove() of the old one", async () => {
  await using world = await dockerServices();
  const { runtime } = world;
  // Each of these proxies connections to the instance that it resolves by name.
  const echo = "while :; do nc -l -p 7000 -e cat; done";
  const old = serviceRequest(world, echo, { service: "api" });
  const web = serviceRequest(world, "while :; do nc -l -p 8080 -e nc api 7000; done", {
    service: "web",
    ports: [8_080],
  });
  const other = serviceRequest(world, "while :; do nc -l -p 8080 -e nc api 9090; done", {
    service: "other",
    ports: [8_080],
  });
  // Two listeners: one for the visitor, one for the other service.
  const next = serviceRequest(world, "nc -l -p 7070 -e cat & while :; do nc -l -p 9090 -e cat; done", {
    service: "api",
    unannounced: true,
    ports: [7_070],
  });
  await runtime.start(old);
  const beside = await runtime.start(other);
  const [started, fresh] = [await runtime.start(web), await runtime.start(next)];
  const through = await connected(started.port!);
  const own = await connected(fresh.port!);
  await runtime.introduce(next.instanceId);
  expect(await world.found(web.instanceId, "api")).toEqual([next.instanceId]);
  const later = await connected(beside.port!);
  for (const each of [through, own, later]) expect(await each.say("second")).toBe("second\n");
  await runtime.remove(old.instanceId, GRACE);
  for (const each of [own, later]) expect(await each.say("third")).toBe("third\n");
  // Nor does it matter that all of them join and leave another network.
  const last = serviceRequest(world, world.programs.working, { service: "api", unannounced: true });
  await runtime.start(last);
  await runtime.introduce(last.instanceId);
  for (const each of [own, later]) expect(await each.say("fourth")).toBe("fourth\n");
  await runtime.remove(last.instanceId, GRACE);
  for (const each of [own, later]) expect(await each.say("fifth")).toBe("fifth\n");
  for (const { socket } of [through, own, later]) socket.destroy();
});

test.concurrent("over many handovers a name always leads to a running instance, at once to the new one, and networks do not pile up", async () => {
  await using world = await dockerServices();
  const { runtime } = world;
  const own = `label=slipway.installation=${world.installation}`;
  const asker = serviceRequest(world, ASKING, { service: "web" });
  const version = async (number: number) => {
    const given = { service: "api", unannounced: number > 0, ports: [3_000] };
    const request = serviceRequest(world, saying(`v${number}`), given);
    expect(await answerOf(await runtime.start(request))).toBe(`v${number}\n`);
    return request.instanceId;
  };
  let before = await version(0);
  await runtime.start(asker);
  const container = await world.containerOf(asker.instanceId);
  const say = (word: string) => world.docker("exec", container, "sh", "-c", `echo ${word} >/proc/1/fd/1`);
  const heard = async () => (await world.docker("logs", container)).split("\n");
  // The response in flight does not count.
  const heardAfter = async (word: string) => {
    const lines = await heard();
    return lines.includes(word) ? lines.slice(lines.indexOf(word) + 2) : [];
  };
  for (let number = 1; number <= HANDOVERS; number++) {
    const next = await version(number);
    await runtime.introduce(next);
    await say(`introduced-${number}`);
    await eventually(
      () => heardAfter(`introduced-${number}`),
      ({ length }) => length >= 3,
    );
    await runtime.remove(before, GRACE);
    expect([number, (await world.docker("network", "ls", "--quiet", "--filter", own)).split("\n").length]).toEqual([
      number,
      2,
    ]);
    before = next;
  }
  // Between two marks: the old one, then the new one. After a mark: only the new one.
  let [number, underWay] = [0, false];
  for (const line of await heard()) {
    const [, mark] = /^introduced-(\d+)$/.exec(line) ?? [];
    if (mark !== undefined) [number, underWay] = [Number(mark), true];
    else {
      const expected = underWay ? [number - 1, number] : [number, number + 1];
      expect([line, expected.some((each) => line === `1 v${each}`)]).toEqual([line, true]);
      underWay = false;
    }
  }
  expect(number).toBe(HANDOVERS);
});
