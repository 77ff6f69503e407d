/** The records of one name. `silent` leaves its queries unanswered, `broken` answers them with SERVFAIL. */
export interface Zone {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** Each record is a list of strings of up to 255 bytes. */
  readonly txt?: readonly (readonly string[])[];
  readonly silent?: boolean;
  readonly broken?: boolean;
}

/** A name server on loopback. */
export interface DnsServer extends Disposable {
  /** Address and port, as resolvers expect it. */
  readonly address: string;
  /** The queried names, in lower case. */
  readonly queries: readonly string[];
}

const TYPES = { 1: "a", 16: "txt", 28: "aaaa" } as const;
const NO_ERROR = 0;
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

/** Answers UDP queries for these names until disposed. All other names do not exist. */
export async function dnsServer(names: Readonly<Record<string, Zone>>): Promise<DnsServer> {
  const queries: string[] = [];
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: {
      data(server, query, port, from) {
        const { name, type, end } = readQuestion(query);
        queries.push(name);
        const zone = names[name];
        if (!zone?.silent) server.send(answer(query.subarray(0, end), zone, type), port, from);
      },
      // The client may have disconnected.
      error() {},
    },
  });
  return { address: `127.0.0.1:${socket.port}`, queries, [Symbol.dispose]: () => socket.close() };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answer(question: Buffer, zone: Zone | undefined, type: number): Buffer {
  const records = zone && !zone.broken ? recordData(zone, type) : [];
  const code = zone ? (zone.broken ? SERVER_FAILURE : NO_ERROR) : NO_SUCH_NAME;
  const reply = Buffer.from(question);
  reply.writeUInt16BE(0x8180 | code, 2);
  reply.writeUInt16BE(1, 4);
  reply.writeUInt16BE(records.length, 6);
  reply.writeUInt32BE(0, 8);
  return Buffer.concat([reply, ...records.map((data) => Buffer.concat([recordHead(type, data.length), data]))]);
}

function recordData(zone: Zone, type: number): Buffer[] {
  const kind = TYPES[type as keyof typeof TYPES];
  if (kind === "a") return (zone.a ?? []).map((address) => Buffer.from(address.split(".").map(Number)));
  if (kind === "aaaa") return (zone.aaaa ?? []).map(ipv6Bytes);
  if (kind !== "txt") return [];
  return (zone.txt ?? []).map((parts) =>
    Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([Buffer.byteLength(part)]), Buffer.from(part)]))),
  );
}

/** Refers to the name in the question (compression pointer), with a TTL of 0. */
function recordHead(type: number, length: number): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(length, 10);
  return head;
}

function ipv6Bytes(address: string): Buffer {
  const [head = "", tail = ""] = address.split("::");
  const [first, last] = [head, tail].map((side) => side.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(8 - first!.length - last!.length).fill("0");
  return Buffer.from([...first!, ...zeros, ...last!].map((group) => group.padStart(4, "0")).join(""), "hex");
}
