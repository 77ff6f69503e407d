import { describe, expect, test } from "bun:test";
import { tcpListeners } from "../../../adapters/shared/tcp_table.ts";

const HEAD =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                     ";
const HEAD6 =
  "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";

/** Written by the kernel for a container on a network with DNS: the last listener is the engine's own name server. */
const TCP = `${HEAD}
   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 215311 1 0000000000000000 100 0 0 10 0
   1: 0100007F:270F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 215312 1 0000000000000000 100 0 0 10 0
   2: 0200A8C0:1F90 0100A8C0:D431 01 00000000:00000000 00:00000000 00000000     0        0 215313 1 0000000000000000 20 4 30 10 -1
   3: 0B00007F:8F1D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 215314 1 0000000000000000 100 0 0 10 0
`;
const TCP6 = `${HEAD6}
   0: 00000000000000000000000000000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99001 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000001000000:0BB9 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99002 1 0000000000000000 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:0BBA 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99003 1 0000000000000000 100 0 0 10 0
   3: B80D0120000000000000000001000000:0BBB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99004 1 0000000000000000 100 0 0 10 0
`;

describe("tcpListeners()", () => {
  test("returns listening sockets only", () => {
    expect(tcpListeners(TCP)).toEqual([
      { address: "0.0.0.0", port: 8080, inode: 215_311 },
      { address: "127.0.0.1", port: 9999, inode: 215_312 },
      { address: "127.0.0.11", port: 36_637, inode: 215_314 },
    ]);
  });

  test("formats addresses, and mapped IPv4 addresses of the IPv6 table as IPv4", () => {
    expect(tcpListeners(TCP6)).toEqual([
      { address: "::", port: 3000, inode: 99_001 },
      { address: "::1", port: 3001, inode: 99_002 },
      { address: "127.0.0.1", port: 3002, inode: 99_003 },
      { address: "2001:db8::1", port: 3003, inode: 99_004 },
    ]);
  });

  test.each(["", "\n\n", HEAD, "no table at all: 0A 0A 0A 0A"])("is empty for %p", (text) => {
    expect(tcpListeners(text)).toEqual([]);
  });
});
