/** What visitors can write into a report costs time by its length, whatever it looks like. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ReportEvent } from '../../../src/server/api/report-inbox.ts'
import { fingerprintOf, readEvent } from '../../../src/server/reports/inbox/inbox-event.ts'
import { createFrameResolver } from '../../../src/server/reports/inbox/inbox-frames.ts'
import { groupOf } from '../../../src/server/reports/inbox/inbox-grouping.ts'
import { readPolicyReport } from '../../../src/server/reports/relay/policy-report.ts'
import { expectLinear } from '../../support/growth.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

/** Each one makes some expression begin often and fail late. */
const TEXTS: readonly [string, (length: number) => string][] = [
  ['questions before a line break', (length) => `/_m/assets/a.js${'?'.repeat(length)}\n`],
  ['fragments before a line break', (length) => `${'#'.repeat(length)}\n.js`],
  ['both, in turns with line breaks', (length) => `${'?#\n'.repeat(length / 3)}x`],
  ['names of assets', (length) => `${'/_m/assets/a.js'.repeat(length / 15)}\n`],
  ['endings of scripts', (length) => `/_m/assets/${'.js'.repeat(length / 3)}\n`],
  ['hashes of assets', (length) => `${'-0000000'.repeat(length / 8)}\n`],
  ['one long hash', (length) => `.${'0'.repeat(length)}.`],
  ['dashes', (length) => `a${'-'.repeat(length)}g`],
  ['a scheme', (length) => `${'a+'.repeat(length / 2)}:/\n`],
  ['a fingerprint that is nearly the default', (length) => `{{default${' '.repeat(length)}\n`],
  ['folders of packages', (length) => '/node_modules'.repeat(length / 13)],
  ['halves of pairs', (length) => '\ud83d'.repeat(length)],
]

const eventWith = (text: string): ReportEvent => ({
  ...readEvent({}),
  title: text,
  exceptions: [
    {
      type: text,
      value: text,
      frames: [{ function: text, file: text, line: 1, column: 1, inApp: true, mapped: false }],
    },
  ],
})

test.each(TEXTS)('%s', async (_, textOf) => {
  const folder = await makeTempDir('hostile-texts')
  onTestFinished(() => folder.remove())
  await mkdir(join(folder.path, 'maps'))
  await writeFile(join(folder.path, 'maps/a.js.map'), '{}')
  const resolve = createFrameResolver(join(folder.path, 'maps'), () => Promise.resolve([]))
  /** Each gives what is measured. */
  const readers: readonly ((text: string) => () => unknown)[] = [
    (text) => groupOf.bind(undefined, eventWith(text), [text]),
    (text) => groupOf.bind(undefined, eventWith(text), undefined),
    (text) => groupOf.bind(undefined, { ...eventWith(text), exceptions: [] }, undefined),
    (text) => resolve.bind(undefined, eventWith(text)),
    (text) => readEvent.bind(undefined, reportOf(text)),
    (text) => readPolicyReport.bind(undefined, JSON.stringify({ 'csp-report': violationOf(text.toWellFormed()) })),
  ]
  for (const reader of readers) await expectLinear((length) => reader(textOf(length)))
})

test('a fingerprint of many parts that each stand for the default group costs no more than one', () => {
  const event = eventWith('\u0001'.repeat(3_000))
  const written = (count: number): number => {
    const stringify = vi.spyOn(JSON, 'stringify')
    groupOf(event, fingerprintOf({ fingerprint: Array.from({ length: count }, () => '{{ default }}') }))
    const bytes = stringify.mock.results.reduce((sum, { value }) => sum + String(value).length, 0)
    stringify.mockRestore()
    return bytes
  }
  expect(written(1)).toBeGreaterThan(3_000)
  expect(written(32_000)).toBeLessThan(written(1) + 1_000)
})

function reportOf(text: string): Readonly<Record<string, unknown>> {
  const frame = { filename: text, abs_path: text, module: text, function: text, lineno: 1, colno: 1 }
  return {
    message: text,
    transaction: text,
    sdk: { name: text },
    timestamp: text,
    contexts: { trace: { trace_id: text } },
    tags: { [text]: text },
    exception: { values: [{ type: text, value: text, stacktrace: { frames: [frame] } }] },
    debug_meta: { images: [{ type: 'sourcemap', code_file: text, debug_id: text }] },
  }
}

function violationOf(text: string): Readonly<Record<string, unknown>> {
  const urls = { 'document-uri': text, 'blocked-uri': text, 'source-file': text }
  return { ...urls, 'effective-directive': 'img-src', 'script-sample': text }
}
