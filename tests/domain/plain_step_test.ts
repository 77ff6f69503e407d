import { expect, test } from "bun:test";
import { plainStep } from "../../domain/image/plain_step.ts";

const CACHE = "--mount=type=cache,id=prj_1/root/.npm,target=/root/.npm,sharing=locked";

test.each([
  ['[build 5/7] RUN ["/bin/sh","-c","npm ci"]', "[build 5/7] RUN npm ci"],
  [`[build 5/7] RUN ${CACHE} ${CACHE} ["/bin/sh","-c","npm ci"]`, "[build 5/7] RUN npm ci"],
  [
    `[2/3] RUN ${CACHE} --mount=type=secret,id=slipway_env ["/bin/sh","-c","set -a; . /run/secrets/slipway_env; set +a; npm ci"]`,
    "[2/3] RUN npm ci",
  ],
  ['RUN ["/bin/sh", "-c", "echo \\"a\\"\\n\\techo b "]', 'RUN echo "a" echo b'],
  ['[2/3] RUN ["/bin/sh","-c","echo \\"a "b" c\\""]', '[2/3] RUN echo \\"a "b" c\\"'],
  [
    "[build 3/7] COPY [[p]ackage.json,[p]ackages/a/package.json,/app/]",
    "[build 3/7] COPY [package.json,packages/a/package.json,/app/]",
  ],
])("plainStep() shortens %s to %s", (name, expected) => {
  expect(plainStep(name)).toBe(expected);
});

test.each([
  "[build 1/7] FROM docker.io/library/node:22",
  "[2/3] RUN npm ci",
  "[2/3] RUN --mount=type=cache,target=/root/.npm npm ci",
  '[2/3] RUN ["npm", "ci"]',
  '[2/3] RUN ["/bin/bash","-c","npm ci"]',
  "[internal] load build context",
  "",
])("plainStep() leaves %j unchanged", (name) => {
  expect(plainStep(name)).toBe(name);
});
