/** A listening TCP socket, as the kernel lists it. */
export interface TcpListener {
  readonly address: string;
  readonly port: number;
  readonly inode: number;
}

const LISTENING = "0A";
/** An address and port in hex; the address consists of 32-bit words in little-endian byte order. */
const LOCAL = /^((?:[0-9A-F]{8}){1,4}):([0-9A-F]{4})$/;
const MAPPED = /^0000:0000:0000:0000:0000:ffff:/;

/** Parses the listening sockets out of the text of `/proc/net/tcp` or `/proc/net/tcp6`. */
export function tcpListeners(table: string): TcpListener[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    const [, address, port] = (state === LISTENING && LOCAL.exec(local)) || [];
    if (address === undefined) return [];
    return [{ address: addressOf(address), port: Number.parseInt(port!, 16), inode: Number(inode) }];
  });
}

function addressOf(hex: string): string {
  const words = hex.match(/.{8}/g)!.map((word) => word.match(/../g)!.toReversed().join("").toLowerCase());
  if (words.length === 1) return dotted(words[0]!);
  const groups = words.flatMap((word) => [word.slice(0, 4), word.slice(4)]).join(":");
  if (MAPPED.test(groups)) return dotted(words.at(-1)!);
  return new URL(`http://[${groups}]`).hostname.slice(1, -1);
}

function dotted(hex: string): string {
  return hex
    .match(/../g)!
    .map((byte) => Number.parseInt(byte, 16))
    .join(".");
}
