/** A failed test. */
export interface TestFailure {
  readonly file: string;
  readonly line: number | undefined;
  readonly name: string;
  readonly message: string;
}

/** The content of a run's report. */
export interface TestReport {
  readonly tests: number;
  readonly failed: number;
  readonly skipped: number;
  readonly files: ReadonlySet<string>;
  readonly failures: readonly TestFailure[];
}

/** Parses the JUnit report that Bun writes. If the run wrote none, everything is empty. */
export function readTestReport(xml: string): TestReport {
  const total = attributesOf(/<testsuites [^>]*>/.exec(xml)?.[0] ?? "");
  const failures = [...xml.matchAll(/(<testcase [^>]*>)\s*(<failure [^>]*>)/g)].map(([, test = "", failure = ""]) => {
    const { file = "", line, classname = "", name = "" } = attributesOf(test);
    const { message = "" } = attributesOf(failure);
    const whole = classname === "" ? name : `${classname} > ${name}`;
    return { file, line: line === undefined ? undefined : Number(line), name: whole, message: message.trim() };
  });
  return {
    tests: Number(total["tests"] ?? 0),
    failed: Number(total["failures"] ?? 0),
    skipped: Number(total["skipped"] ?? 0),
    files: new Set([...xml.matchAll(/ file="([^"]*)"/g)].map(([, file = ""]) => plain(file))),
    failures,
  };
}

function attributesOf(tag: string): Record<string, string> {
  return Object.fromEntries(
    [...tag.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, plain(value)]),
  );
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function plain(text: string): string {
  return text.replace(/&(?:#(\d+)|([a-z]+));/g, (all, code?: string, name?: string) =>
    code === undefined ? (NAMED[name ?? ""] ?? all) : String.fromCodePoint(Number(code)),
  );
}
