import { describe, expect, test } from "bun:test";
import { addressUnusable } from "../../../adapters/shared/address_unusable.ts";
import { portHolder } from "../../../adapters/shared/port_holder.ts";
import { faultyListener } from "../../support/faults/faulty_listener.ts";

const HOST = "127.0.0.1";

function sentence(port: number, code: string | undefined): string {
  return addressUnusable({ host: HOST, port, setting: "EDGE_PORT" }, { code }).message;
}

describe("addressUnusable()", () => {
  test("names the program that uses the port, the setting and the recipes", () => {
    using taken = faultyListener("silent");
    const holder = portHolder(taken.port);
    expect(holder).toMatch(new RegExp(`^[a-z.]+ \\(pid ${process.pid}\\)$`));
    expect(sentence(taken.port, "EADDRINUSE")).toBe(
      `Cannot listen on ${HOST}:${taken.port}: ${holder} uses it. ` +
        "Stop that one, or set EDGE_PORT and put Slipway behind it: see docs/behind-a-proxy.md",
    );
  });

  test("names no program where none can be seen", () => {
    expect(portHolder(1)).toBeUndefined();
    expect(sentence(1, "EADDRINUSE")).toStartWith(`Cannot listen on ${HOST}:1: another program uses it. Stop that one`);
  });

  test("says what ports below 1024 need", () => {
    expect(sentence(80, "EACCES")).toBe(
      `Cannot listen on ${HOST}:80: ports below 1024 need CAP_NET_BIND_SERVICE. ` +
        "Grant it, or set EDGE_PORT: see docs/behind-a-proxy.md",
    );
  });

  test.each(["EACCES", "EADDRNOTAVAIL"])("says what the system answered: %s", (code) => {
    expect(sentence(8080, code)).toBe(`Cannot listen on ${HOST}:8080: ${code}. Set HOST and EDGE_PORT`);
  });

  test("says that the system gave no reason", () => {
    expect(sentence(8080, undefined)).toBe(`Cannot listen on ${HOST}:8080: the system refused. Set HOST and EDGE_PORT`);
  });
});
