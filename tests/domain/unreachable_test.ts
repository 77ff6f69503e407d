import { describe, expect, test } from "bun:test";
import { type ListeningSocket, unreachable } from "../../domain/deployments/unreachable.ts";

const at = (address: string, port: number): ListeningSocket => ({ address, port });
const PROCESS = { port: 30_123, name: "$PORT (30123)", inContainer: false };
const CONTAINER = { port: 3000, name: "$PORT (3000)", inContainer: true };

describe("unreachable()", () => {
  test.each([
    [[at("0.0.0.0", 9999)], "it listens on 9999, not on $PORT (30123)"],
    [[at("127.0.0.1", 9999), at("::1", 9999)], "it listens on 9999, not on $PORT (30123)"],
    [[at("::", 9998), at("::", 9999)], "it listens on 9998 and 9999, not on $PORT (30123)"],
    [[], "it listens on no port, but should listen on $PORT (30123)"],
    [[at("::1", 30_123)], "it listens on ::1 only; make it listen on 0.0.0.0"],
  ])("of a process with %j", (sockets, sentence) => {
    expect(unreachable(sockets, PROCESS)).toBe(sentence);
  });

  test.each([
    [[at("::", 8080)], "it listens on 8080, not on $PORT (3000)"],
    [[at("127.0.0.1", 3000)], "it listens on 127.0.0.1 only; make it listen on 0.0.0.0"],
    [[at("::1", 3000)], "it listens on ::1 only; make it listen on 0.0.0.0"],
    [[at("127.0.0.1", 3000), at("::1", 3000)], "it listens on 127.0.0.1 and ::1 only; make it listen on 0.0.0.0"],
    [[at("127.0.0.1", 3000), at("::", 9229)], "it listens on 127.0.0.1 only; make it listen on 0.0.0.0"],
  ])("of a container with %j", (sockets, sentence) => {
    expect(unreachable(sockets, CONTAINER)).toBe(sentence);
  });

  test.each(["0.0.0.0", "::", "127.0.0.1"])("of a process that listens on %s is undefined", (address) => {
    expect(unreachable([at(address, 30_123)], PROCESS)).toBeUndefined();
  });

  test.each(["0.0.0.0", "::", "172.18.0.3"])("of a container that listens on %s is undefined", (address) => {
    expect(unreachable([at("127.0.0.1", 3000), at(address, 3000)], CONTAINER)).toBeUndefined();
  });

  test("names a few ports of many", () => {
    const many = Array.from({ length: 9 }, (_, index) => at("0.0.0.0", 9001 + index));
    expect(unreachable(many, PROCESS)).toBe("it listens on 9001, 9002, 9003 and others, not on $PORT (30123)");
  });
});
