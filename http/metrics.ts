const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A route, identified by its object, which is the same for all of its requests. */
export interface CountedRoute {
  readonly method: string;
  readonly path: string;
}

interface Series {
  readonly labels: string;
  count: number;
  seconds: number;
  readonly buckets: number[];
  readonly statuses: Map<number, number>;
}

/** Counts requests by route, and renders them in the Prometheus text format. */
export class Metrics {
  readonly #series = new Map<CountedRoute, Series>();
  readonly #startedAt = Date.now();
  #running = 0;

  begin(): void {
    this.#running++;
  }

  end(route: CountedRoute, status: number, seconds: number): void {
    this.#running--;
    const series = this.#of(route);
    series.count++;
    series.seconds += seconds;
    series.statuses.set(status, (series.statuses.get(status) ?? 0) + 1);
    const bucket = BUCKETS.findIndex((limit) => seconds <= limit);
    if (bucket >= 0) series.buckets[bucket]!++;
  }

  render(version: string): string {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return [
      ...gauge("slipway_info", "Which version runs.", `{version="${version}"} 1`),
      ...gauge("process_uptime_seconds", "Seconds since the start.", ` ${(Date.now() - this.#startedAt) / 1000}`),
      ...gauge("process_resident_memory_bytes", "Memory of the process.", ` ${rss}`),
      ...gauge("process_heap_used_bytes", "Memory of the JavaScript heap.", ` ${heapUsed}`),
      "# HELP process_cpu_seconds_total Processor time used.",
      "# TYPE process_cpu_seconds_total counter",
      `process_cpu_seconds_total ${(user + system) / 1e6}`,
      ...gauge("slipway_http_requests_running", "Requests being answered.", ` ${this.#running}`),
      "# HELP slipway_http_requests_total Answered requests.",
      "# TYPE slipway_http_requests_total counter",
      ...this.#requests(),
      "# HELP slipway_http_request_duration_seconds Time to answer.",
      "# TYPE slipway_http_request_duration_seconds histogram",
      ...this.#durations(),
      "",
    ].join("\n");
  }

  #of(route: CountedRoute): Series {
    let series = this.#series.get(route);
    if (!series) {
      const { method, path } = route;
      const buckets = BUCKETS.map(() => 0);
      series = { labels: `method="${method}",route="${path}"`, count: 0, seconds: 0, buckets, statuses: new Map() };
      this.#series.set(route, series);
    }
    return series;
  }

  *#requests(): Generator<string> {
    for (const { labels, statuses } of this.#series.values()) {
      for (const [status, count] of statuses)
        yield `slipway_http_requests_total{${labels},status="${status}"} ${count}`;
    }
  }

  *#durations(): Generator<string> {
    const name = "slipway_http_request_duration_seconds";
    for (const { labels, count, seconds, buckets } of this.#series.values()) {
      let below = 0;
      for (const [index, limit] of BUCKETS.entries()) {
        below += buckets[index]!;
        yield `${name}_bucket{${labels},le="${limit}"} ${below}`;
      }
      yield `${name}_bucket{${labels},le="+Inf"} ${count}`;
      yield `${name}_sum{${labels}} ${seconds}`;
      yield `${name}_count{${labels}} ${count}`;
    }
  }
}

function gauge(name: string, help: string, sample: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name}${sample}`];
}
