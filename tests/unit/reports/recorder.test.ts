import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildReports, type BuiltReports } from '../../../scripts/build/assets/build-reports.ts'
import { createPageRecorder } from '../../../src/server/reports/sdk/page-recorder.ts'
import { createDocumentPolicies } from '../../../src/server/routes/render/document-policy.ts'
const ROOT = join(import.meta.dirname, '../../..')
// A kilobyte, less the 71 bytes by which the first load is larger for reports.
const RECORDER_LIMIT_BYTES = 1_024 - 71
const SDK_LIMIT_BYTES = 57_344

const built: { reports?: BuiltReports } = {}
beforeAll(async () => {
  built.reports = await buildReports({ root: ROOT })
})

const SETTINGS = {
  dsn: 'https://0123456789abcdef0123456789abcdef@o123456.ingest.errors.example/1234567',
  tunnel: '/_m/reports/0123abcd',
  release: '0123456789abcdef',
  environment: 'production',
  rate: 0.05,
}

function recorder(settings: object = {}) {
  if (built.reports === undefined) throw new Error('Not built')
  return createPageRecorder(built.reports.assets, { ...SETTINGS, ...settings })
}

describe('what every document carries for reports', () => {
  test('is less than a kilobyte, settings included', () => {
    const size = gzipSync(recorder().script, { level: 9 }).byteLength
    expect(size).toBeGreaterThan(RECORDER_LIMIT_BYTES / 2)
    expect(size).toBeLessThanOrEqual(RECORDER_LIMIT_BYTES)
  })

  test('cannot end the element it stands in', () => {
    expect(recorder({ environment: '</script><script>alert(1)//' }).script).not.toMatch(/<\/|<!--/)
  })

  test('runs in documents without nonces by its hash, and by nothing else', () => {
    const sharedWith = (...inline: readonly string[]) => createDocumentPolicies({ inline }, false).shared
    expect(sharedWith(recorder().source)).toMatch(/script-src 'self' 'sha256-[\w+/]{43}='; style-src/)
    expect(sharedWith()).toContain("script-src 'self'; style-src")
    expect(recorder({ release: 'other' }).source).not.toBe(recorder().source)
  })

  test('holds its settings as they are', () => {
    expect(recorder({ release: '$&$1' }).script).toContain('"release":"$\\u0026$1"')
  })
})

describe('the SDK', () => {
  test('is one file of bounded size that imports nothing', () => {
    const file = built.reports?.outputFiles.find(({ path }) => path.endsWith('.js'))
    expect(gzipSync(file?.contents ?? '', { level: 9 }).byteLength).toBeLessThanOrEqual(SDK_LIMIT_BYTES)
    expect(file?.text).not.toMatch(/\bimport\s*["'{(*]/)
    expect(file?.text).toMatch(/export\{\w+ as startReports\}/)
  })

  test('is the same file each time', async () => {
    expect((await buildReports({ root: ROOT })).assets).toEqual(built.reports?.assets)
  })
})
