import { readdir } from "node:fs/promises";
import { must, run } from "./command.ts";

const PREFIX = "slipway-lane-";
const PROGRAMS = ["ip", "iptables", "iptables-save", "nsenter"];
/** How long closed connections are remembered. An engine reads the list of all of them whenever a container stops. */
const CLOSED_CONNECTIONS = "/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_time_wait";
const FORGOTTEN_AFTER_S = 5;
/** The size of the table of sockets in namespaces made from one. By default all share the machine's large one. */
const SOCKETS_OF_CHILDREN = "/proc/sys/net/ipv4/tcp_child_ehash_entries";
const SOCKETS = 32_768;

/** A network namespace with outside access. Processes in it have their own loopback, ports and bridges. */
export interface LaneNetwork extends AsyncDisposable {
  /** Wraps a command so that it runs in the namespace. */
  inside(command: readonly string[]): readonly string[];
}

/**
 * Opens the network of one lane of this run. Returns `undefined` where namespaces cannot be created, such as without
 * root.
 */
export async function laneNetwork(lane: number): Promise<LaneNetwork | undefined> {
  if (process.getuid?.() !== 0 || PROGRAMS.some((program) => !Bun.which(program))) return undefined;
  const name = `${PREFIX}${process.pid}-${lane}`;
  // Interface names have a short maximum length.
  const link = `slt${process.pid.toString(36)}${lane}`;
  const [outer, inner] = addresses(lane);
  await using undo = new AsyncDisposableStack();
  if (!(await addNamespace(name))) return undefined;
  undo.defer(() => quietly(["ip", "netns", "delete", name]));
  const inside = (command: readonly string[]) => within(name, command);
  await must(["ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name]);
  undo.defer(() => quietly(["ip", "link", "delete", link]));
  await must(["ip", "address", "add", `${outer}/30`, "dev", link]);
  await must(["ip", "link", "set", link, "up"]);
  await must(inside(["ip", "address", "add", `${inner}/30`, "dev", "eth0"]));
  await must(inside(["ip", "link", "set", "eth0", "up"]));
  await must(inside(["ip", "link", "set", "lo", "up"]));
  await must(inside(["ip", "route", "add", "default", "via", outer]));
  // Where connections are not tracked yet, there is no such setting.
  await quietly(inside(setting(CLOSED_CONNECTIONS, FORGOTTEN_AFTER_S)));
  await Bun.write("/proc/sys/net/ipv4/ip_forward", "1");
  const comment = ["-m", "comment", "--comment", name];
  const rules = [
    ["-t", "nat", "-A", "POSTROUTING", "-s", inner, "!", "-o", link, ...comment, "-j", "MASQUERADE"],
    ["-t", "filter", "-I", "FORWARD", "-i", link, ...comment, "-j", "ACCEPT"],
    ["-t", "filter", "-I", "FORWARD", "-o", link, ...comment, "-j", "ACCEPT"],
  ];
  for (const rule of rules) {
    await must(["iptables", "-w", ...rule]);
    undo.defer(() => quietly(["iptables", "-w", ...rule.map((word) => (/^-[AI]$/.test(word) ? "-D" : word))]));
  }
  const lifetime = undo.move();
  return { inside, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

/**
 * Adds a namespace with a table of sockets of its own, as have those of the containers in it. To list the listening
 * ports, the kernel goes through the whole table, which takes 12 ms for the machine's. Returns `false` on failure.
 */
async function addNamespace(name: string): Promise<boolean> {
  const parent = `${name}-parent`;
  if (!(await run(["ip", "netns", "add", parent])).ok) return false;
  // Older kernels have no such setting.
  await quietly(within(parent, setting(SOCKETS_OF_CHILDREN, SOCKETS)));
  const { ok } = await run(within(parent, ["ip", "netns", "add", name]));
  await quietly(["ip", "netns", "delete", parent]);
  if (ok) await quietly(within(name, setting(SOCKETS_OF_CHILDREN, SOCKETS)));
  return ok;
}

function within(name: string, command: readonly string[]): readonly string[] {
  return ["nsenter", `--net=/run/netns/${name}`, "--", ...command];
}

function setting(path: string, value: number): readonly string[] {
  return ["sh", "-c", 'echo "$2" >"$1"', "sh", path, `${value}`];
}

/** Removes the networks of killed runs. */
export async function removeLeftNetworks(): Promise<void> {
  const names = (await readdir("/run/netns").catch(() => [])).filter((name) => name.startsWith(PREFIX));
  for (const name of names.filter((each) => !isAlive(Number(each.slice(PREFIX.length).split("-")[0])))) {
    for (const table of ["nat", "filter"]) {
      const { output } = await run(["iptables-save", "-t", table]);
      for (const rule of output.split("\n").filter((line) => line.startsWith("-A ") && line.includes(`${name} `)))
        await quietly(["iptables", "-w", "-t", table, "-D", ...rule.replaceAll('"', "").split(" ").slice(1)]);
    }
    await quietly(["ip", "netns", "delete", name]);
  }
}

/** Both ends of a lane's link, in a range that is unique per lane and, as far as possible, per run. */
function addresses(lane: number): readonly [outer: string, inner: string] {
  const third = process.pid % 256;
  return [`10.213.${third}.${lane * 4 + 1}`, `10.213.${third}.${lane * 4 + 2}`];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function quietly(command: readonly string[]): Promise<void> {
  await run(command);
}
