import { describe, test } from "bun:test";
import { expectServedThroughRenewals } from "../support/servers/served_through_renewals.ts";

describe.each(["inside", "separate"])("with EDGE=%s", (edge) => {
  test("a certificate is issued, served and renewed under constant TLS requests without a failed handshake", () =>
    expectServedThroughRenewals({ EDGE: edge }));
});
