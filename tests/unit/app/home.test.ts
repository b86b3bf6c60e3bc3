import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exampleFiles } from '../../../src/app/home/example-files.server.ts'
import { createLiveWaits } from '../../../src/app/home/live-waits.server.ts'
import { readFigures, ReportError } from '../../../src/app/home/published-figures.server.ts'
import { OG_IMAGE, ogText, textInPng, writtenText } from '../../support/og-image.ts'

const REPORT = readFileSync(resolve(import.meta.dirname, '../../../docs/performance.md'), 'utf8')

describe('the figures of the home page', () => {
  test('are six of the report, with its date, and those in bold miss their goal', () => {
    const { date, figures } = readFigures(REPORT)
    expect(REPORT).toContain(`**Date:** ${date}`)
    expect(figures).toHaveLength(6)
    const { figures: missed } = readFigures(REPORT.replace(/^(\| throughput, hello \|) ([\d.]+) \|/m, '$1 **$2** |'))
    expect([figures[0]?.isMet, missed[0]?.isMet]).toEqual([true, false])
    for (const { bars, value } of figures) {
      expect(value).toMatch(/^\d[\d.,]* (?:×|kB)$/)
      expect(bars.length).toBeGreaterThan(1)
      for (const { text, amount } of bars) expect([text, amount > 0]).toEqual([expect.stringMatching(/\d/), true])
    }
  })

  test('that the report has no more are named', () => {
    expect(() => readFigures(REPORT.replace('click to heading', 'clicks'))).toThrow(ReportError)
    expect(() => readFigures(REPORT.replace('**Date:**', 'Date:'))).toThrow('has no date')
  })
})

test('the example of the home page has the files of the page that it leads to, table entry first', async () => {
  const files = await exampleFiles()
  expect(files.map(({ name }) => name)).toEqual([
    'routes.ts',
    'loader.server.ts',
    'page.tsx',
    'power-form.tsx',
    'actions.server.ts',
  ])
  for (const { html } of files) expect(html.text).toMatch(/^<pre><code>[^]+hljs-keyword[^]+<\/pre>$/)
  expect(files[0]?.html.text).toContain('/(site)/lab/mills/[id]')
})

describe('the waits that visitors watch', () => {
  const wait = (waits: ReturnType<typeof createLiveWaits>, client: string, signal = AbortSignal.abort()) =>
    waits.begin(client, 60_000, signal)

  test('are few, and fewer of one client', async () => {
    const waits = createLiveWaits({ most: 3, mostOfOne: 2 })
    const leave = new AbortController()
    const begun = ['a', 'a', 'a', 'b', 'c'].map((client) => wait(waits, client, leave.signal))
    expect(begun.map((one) => one !== undefined)).toEqual([true, true, false, true, false])
    leave.abort()
    await Promise.allSettled(begun)
    expect(await waits.begin('a', 0, AbortSignal.timeout(60_000))).toEqual(expect.any(Number))
  })

  test('end with their visitor, who makes room', async () => {
    const waits = createLiveWaits({ most: 1, mostOfOne: 1 })
    await expect(wait(waits, 'a')).rejects.toThrow('aborted')
    expect(await waits.begin('b', 0, AbortSignal.timeout(60_000))).toEqual(expect.any(Number))
  })
})

test('the picture for previews of links says what the home page says: `RENEW_SCREENSHOTS=1 npm test -- og-image`', async () => {
  expect(textInPng(readFileSync(OG_IMAGE))).toBe(writtenText(await ogText()))
})
