import { describe, expect, test } from "bun:test";
import { RouteTable } from "../../domain/deployments/route_table.ts";

describe("RouteTable", () => {
  test("find() accepts addresses as hosts, with and without a port", () => {
    const table = new RouteTable();
    const six = { hostname: "[2001:DB8::1]", pathPrefix: "/" };
    const four = { hostname: "192.0.2.1", pathPrefix: "/" };
    table.replace("a", [six, four]);
    expect(table.find("[2001:db8::1]:4480", "/")).toBe(six);
    expect(table.find("[2001:db8::1]", "/")).toBe(six);
    expect(table.find("192.0.2.1:80", "/")).toBe(four);
  });

  test("find() returns an equal route of the former owner again when the later one is removed", () => {
    const table = new RouteTable();
    const former = { hostname: "a.test", pathPrefix: "/x/" };
    const later = { hostname: "A.test", pathPrefix: "/x" };
    table.replace("a", [former]);
    table.replace("b", [later]);
    expect(table.find("a.test", "/x")).toBe(later);
    table.replace("b", []);
    expect(table.find("a.test", "/x")).toBe(former);
    expect(table.all()).toEqual([former]);
  });

  test("hosts() lists the routes of each host in the order in which find() tries them", () => {
    const table = new RouteTable();
    const [all, api, later] = [
      { hostname: "A.test", pathPrefix: "/" },
      { hostname: "a.test.", pathPrefix: "/api/" },
      { hostname: "a.test", pathPrefix: "/" },
    ];
    table.replace("a", [all, api]);
    table.replace("b", [later]);
    const entries = [
      { prefix: "/api", route: api },
      { prefix: "", route: later },
      { prefix: "", route: all },
    ];
    expect([...table.hosts()]).toEqual([["a.test", entries]]);
  });

  test("clear() forgets everything", () => {
    const table = new RouteTable();
    table.replace("a", [{ hostname: "a.test", pathPrefix: "" }]);
    table.clear();
    expect(table.find("a.test", "/")).toBeUndefined();
    expect(table.all()).toEqual([]);
  });
});
